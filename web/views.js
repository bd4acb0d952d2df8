// Views of a RunModel: the tree of paths, the charts, the tables. Each draws what it is given and
// keeps nothing of a run.
'use strict';

const STATUS_COLOURS = {running: '--running', finished: '--finished', length: '--finished',
                        pruned: '--pruned', merged: '--merged'};
const LEGEND = [['running', '--running'], ['finished', '--finished'], ['pruned', '--pruned'],
                ['merged into another', '--merged'], ['repeating, failed or cancelled', '--other'],
                ['refined over routes', '--refined']];

// Colours of the theme, read once: asking the style of an element is slow.
class Theme {
  constructor() {
    this.colours = new Map();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.colours.clear());
  }
  get(name) {
    if (!this.colours.has(name)) {
      this.colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    }
    return this.colours.get(name);
  }
}
const theme = new Theme();

function fill(element, children) { element.replaceChildren(...children); }

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  return element;
}

const MOST_TREE_PX = 512;     // of height, as long as a path has a line of its own
const MANY_PATHS = 40;        // from here on equal answers stand together, unless asked otherwise

class TreeView {
  constructor(canvas, onSelect) {
    this.canvas = canvas;
    this.onSelect = onSelect;
    this.selected = null;
    this.orderBy = '';  // family, answer or confidence; empty: by the number of paths
    this.rows = [];
    canvas.addEventListener('click', (event) => {
      const row = Math.floor(event.offsetY / this.rowHeight());
      if (this.rows[row] !== undefined) onSelect(this.rows[row]);
    });
    canvas.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!step || this.rows.length === 0) return;
      event.preventDefault();
      const at = this.rows.indexOf(this.selected);
      onSelect(this.rows[Math.max(0, Math.min(this.rows.length - 1, at + step))]);
    });
  }
  rowHeight() { return Math.max(1, Math.min(13, MOST_TREE_PX / Math.max(1, this.rows.length))); }

  order(model) {
    const by = this.orderBy || (model.paths.size > MANY_PATHS ? 'answer' : 'family');
    this.groups = [];
    if (by === 'family') return this.byFamily(model);
    const surer = (a, b) => (b.confidence || 0) - (a.confidence || 0) || a.id - b.id;
    const paths = [...model.paths.values()].sort(surer);
    return by === 'answer' ? this.byAnswer(model, paths) : paths.map((path) => path.id);
  }

  // Equal answers together, the most frequent first; paths without one, and merged ones, last.
  byAnswer(model, paths) {
    const counted = model.answers();
    const rows = [];
    const add = (members, label) => {
      if (members.length === 0) return;
      this.groups.push({first: rows.length, count: members.length, label});
      members.forEach((path) => rows.push(path.id));
    };
    for (const [answer, count] of counted) {
      add(paths.filter((path) => path.answer === answer && path.status !== 'merged'), `${answer} \u00d7 ${count}`);
    }
    add(paths.filter((path) => path.answer === null || path.status === 'merged'), 'none');
    return rows;
  }

  // A family stays together: children come right after their parent.
  byFamily(model) {
    const children = new Map();
    for (const path of model.paths.values()) {
      const list = children.get(path.parent) || [];
      list.push(path.id);
      children.set(path.parent, list);
    }
    const rows = [];
    const add = (id) => { rows.push(id); (children.get(id) || []).forEach(add); };
    (children.get(null) || []).forEach(add);
    return rows;
  }

  draw(model) {
    this.rows = this.order(model);
    const height = Math.max(1, this.rows.length) * this.rowHeight();
    const width = this.canvas.parentElement.clientWidth;
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) ||
        this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.height = `${height}px`;
    }
    const context = this.canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const place = new Map(this.rows.map((id, row) => [id, (row + 0.5) * this.rowHeight()]));
    const x = (tokens) => 4 + (width - 70) * tokens / Math.max(model.longest, 16);
    for (const id of this.rows) this.drawPath(context, model.paths.get(id), place, x);
    for (const group of this.groups) this.drawGroup(context, group, width);
  }

  drawGroup(context, {first, count, label}, width) {
    const [top, height] = [first * this.rowHeight(), count * this.rowHeight()];
    context.strokeStyle = theme.get('--line');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, top);
    context.lineTo(width, top);
    context.stroke();
    if (height < 10) return;
    context.fillStyle = theme.get('--ink');
    context.font = '10px system-ui, sans-serif';
    context.fillText(label.slice(0, 14), width - 66, top + Math.min(height / 2 + 4, 200));
  }

  drawPath(context, path, place, x) {
    const y = place.get(path.id);
    const line = (from, to, name, thickness) => {
      context.strokeStyle = theme.get(name);
      context.lineWidth = thickness;
      context.beginPath();
      context.moveTo(x(from), y);
      context.lineTo(Math.max(x(to), x(from) + 1), y);
      context.stroke();
    };
    const chosen = path.id === this.selected;
    if (path.parent !== null && place.has(path.parent)) {
      context.strokeStyle = theme.get('--line');
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x(path.start), place.get(path.parent));
      context.lineTo(x(path.start), y);
      context.stroke();
    }
    const thick = Math.min(2.5, 0.7 * this.rowHeight());
    line(path.start, path.length, STATUS_COLOURS[path.status] || '--other', chosen ? 5 : thick);
    for (const [from, to] of path.refined) line(from, to === null ? path.length : to, '--refined', 2 * thick);
    if (path.status === 'merged' && place.has(path.kept)) {
      context.strokeStyle = theme.get('--merged');
      context.setLineDash([2, 2]);
      context.beginPath();
      context.moveTo(x(path.length), y);
      context.lineTo(x(path.length), place.get(path.kept));
      context.stroke();
      context.setLineDash([]);
    }
    if (path.answer !== null && this.groups.length === 0 && this.rowHeight() > 10) {
      context.fillStyle = theme.get(chosen ? '--ink' : '--soft');
      context.font = '10px system-ui, sans-serif';
      context.fillText(path.answer.slice(0, 9), x(path.length) + 4, y + 3.5);
    }
  }
}

// A uPlot that is made anew when its number of series changes.
class Chart {
  constructor(element, height) { this.element = element; this.height = height; this.plot = null; this.key = ''; }
  // `x`: more about the scale of x.
  draw(data, series, key, x) {
    const width = Math.max(200, this.element.clientWidth);
    if (key !== this.key || !this.plot) {
      this.clear();
      this.key = key;
      const axis = {stroke: () => theme.get('--soft'), grid: {stroke: () => theme.get('--line'), width: 1}};
      this.plot = new uPlot({width, height: this.height, series, axes: [axis, {...axis, size: 45}],
                             scales: {x: {time: false, ...x}}, cursor: {drag: {x: true, y: false}},
                             legend: {show: series.length < 8}}, data, this.element);
      return;
    }
    if (this.plot.width !== width) this.plot.setSize({width, height: this.height});
    this.plot.setData(data);
  }
  // Takes the plot away; `why` there is none, in words.
  clear(why) {
    if (this.plot) this.plot.destroy();
    this.plot = null;
    fill(this.element, why ? [make('p', why, {class: 'hint'})] : []);
  }
}

// Why a chart of a run is empty.
function missing(model, what) {
  return model.result ? `This run has no ${what}.` : `There is no ${what} yet.`;
}

// Window means of all paths on one grid of tokens, and the threshold.
function drawConfidence(chart, model, selected) {
  const paths = [...model.paths.values()].filter((path) => path.curve.means.length + path.points.length > 0);
  if (paths.length === 0) {
    chart.clear(model.head ? missing(model, 'confidence') : '');
    return;
  }
  paths.sort((a, b) => (a.id === selected) - (b.id === selected));  // the chosen one above the others
  const step = Math.max(Math.ceil(model.longest / (2 * MOST_POINTS)), ...paths.map((path) => path.curve.size));
  const points = Math.max(1, Math.ceil(model.longest / step));
  const xs = Array.from({length: points}, (_, i) => i * step);
  const data = [xs];
  for (const path of paths) {
    const row = new Array(points).fill(null);
    const {means, size} = path.curve;
    for (let i = 0; i < means.length; i++) {
      const at = Math.floor((path.start + i * size) / step);
      if (at < points) row[at] = means[i];
    }
    for (const [position, mean] of path.points) row[Math.min(points - 1, Math.floor(position / step))] = mean;
    data.push(row);
  }
  const colour = (path) => theme.get(path.id === selected ? '--ink' : STATUS_COLOURS[path.status] || '--other');
  const series = [{label: 'token'}].concat(paths.map((path) => ({
    label: `path ${path.id}`, width: path.id === selected ? 3 : 1, spanGaps: true, points: {show: false},
    alpha: path.id === selected || paths.length <= MANY_PATHS ? 1 : 0.3, stroke: () => colour(path)})));
  if (model.threshold !== null) {
    data.push(xs.map(() => model.threshold));
    series.push({label: 'threshold', width: 2, dash: [6, 4], points: {show: false},
                 stroke: () => theme.get('--pruned')});
  }
  chart.draw(data, series, `${paths.map((path) => path.id)}|${selected}|${model.threshold !== null}`);
}

function drawDecisions(controller, statistics, model) {
  if (model.decisions.length === 0) {
    controller.clear(model.head ? missing(model, 'decision') : '');
    statistics.clear();
    return;
  }
  // Warm-up has no decisions, so positions grow; equal ones would confuse the axis.
  const xs = model.decisions.map((_, i) => i);
  const scores = ACTIONS.map((name) => model.decisions.map((decision) => decision.scores[name]));
  const chosen = ACTIONS.map((name) => model.decisions.map((decision) =>
      decision.action === name ? decision.scores[name] : null));
  const series = [{label: 'decision'}];
  ACTIONS.forEach((name, i) => series.push({label: name, stroke: () => theme.get(`--a${i}`), width: 1.5,
                                            points: {show: false}}));
  ACTIONS.forEach((name, i) => series.push({
    label: `${name} chosen`, stroke: () => theme.get(`--a${i}`), paths: () => null,
    points: {show: true, size: 9, fill: () => theme.get(`--a${i}`)}}));
  controller.draw([xs, ...scores, ...chosen], series.slice(0, 9), 'controller');
  const names = ['confidence', 'entropy', 'consensus', 'diversity', 'variance'];
  const colours = ['--finished', '--pruned', '--a3', '--a2', '--a1'];
  statistics.draw([xs, ...names.map((name) => model.decisions.map((decision) => decision.normalised[name]))],
                  [{label: 'decision'}].concat(names.map((name, i) => ({
                    label: name, width: 1.5, points: {show: false}, stroke: () => theme.get(colours[i])}))),
                  'statistics');
}

// The decisions in the plane of confidence and diversity, coloured by the action that was chosen.
function drawScatter(chart, model) {
  if (model.decisions.length === 0) {
    chart.clear();
    return;
  }
  const decisions = [...model.decisions].sort((a, b) => a.normalised.confidence - b.normalised.confidence);
  const series = [{label: 'confidence'}].concat(ACTIONS.map((name, i) => ({
    label: name, stroke: () => theme.get(`--a${i}`), paths: () => null,
    points: {show: true, size: 9, fill: () => theme.get(`--a${i}`)}})));
  chart.draw([decisions.map((decision) => decision.normalised.confidence),
              ...ACTIONS.map((name) => decisions.map((decision) =>
                  decision.action === name ? decision.normalised.diversity : null))],
             series, 'scatter', {range: [-0.02, 1.02]});
}

function drawActions(element, notes, model) {
  const total = model.decisions.length;
  fill(notes, model.notes().map(([note, count]) => make('li', `${count} of ${total} decisions: ${note}`)));
  if (total === 0) {
    fill(element, []);
    return;
  }
  fill(element, [...model.actionCounts()].map(([name, count], i) => {
    const bar = make('div', undefined, {class: 'bar'});
    const line = make('i', undefined, {style: `width:${100 * count / total}%;background:var(--a${i})`});
    const label = make('span');
    label.append(make('span', '', {class: 'dot', style: `background:var(--a${i})`}), name);
    bar.append(label, line, make('span', String(count)));
    return bar;
  }));
}

// Before the end the number of paths for each answer, then the outcome under every rule.
function drawBallot(table, model) {
  const rows = [];
  const row = (cells, tag) => {
    const line = make('tr');
    cells.forEach((cell) => line.append(make(tag || 'td', cell)));
    rows.push(line);
  };
  if (model.result && model.result.votes) {
    row(['rule', 'winner', 'shares'], 'th');
    for (const [rule, vote] of Object.entries(model.result.votes)) {
      const shares = vote.scores.slice(0, 5).map((score) =>
          `${score.answer}: ${(100 * (score.share || 0)).toFixed(1)} % (${score.paths})`).join(', ');
      row([rule + (rule === model.result.vote_rule ? ' (picks)' : ''), vote.answer === null ? 'none' : vote.answer,
           shares]);
    }
  } else {
    row(['answer so far', 'paths'], 'th');
    model.answers().slice(0, 12).forEach(([answer, count]) => row([answer, String(count)]));
  }
  fill(table.tBodies[0], rows);
}

function drawNumbers(list, model, live) {
  const head = model.head || {};
  const facts = [['method', head.method || '-'],
                 ['width', head.options && head.method !== 'plain' ? head.options.width : '-'],
                 ['seed', head.seed === undefined ? '-' : head.seed],
                 ['paths', model.paths.size], ['running', model.running()], ['tokens', model.tokens()],
                 ['decisions', model.decisions.length],
                 ['threshold', model.threshold === null ? '-' : model.threshold.toFixed(2)]];
  if (live && live.cells) facts.push(['KV cells', live.cells]);
  if (model.result && model.result.votes) {
    const ledger = model.result.ledger;
    facts.push(['effective tokens', ledger.effective], ['peak lanes', ledger.lanes_peak],
               ['peak KV cells', ledger.cells_peak], ['voting paths', model.result.voting_paths]);
    if (model.result.timing) facts.push(['seconds', model.result.timing.wall_s.toFixed(2)]);
  }
  fill(list, facts.map(([name, value]) => {
    const pair = make('div');
    pair.append(make('dt', name), make('dd', String(value)));
    return pair;
  }));
}

// The text of a path, each token coloured: red where the model was least sure.
function drawPath(element, facts, model, id, what) {
  const path = model.paths.get(id);
  if (!path) { fill(element, []); facts.textContent = ''; return; }
  const tokens = model.tokensOf(id);
  const values = tokens.map((token) => token[what]).filter(Number.isFinite);
  const low = Math.min(...values), high = Math.max(...values);
  facts.textContent = `${path.status}${path.reason ? `: ${path.reason}` : ''}; ${path.length} tokens` +
      (path.answer !== null ? `; answer ${path.answer}` : '') + (path.warmup ? '; warm-up' : '');
  if (tokens.length === 0) {
    const stored = model.result && model.result.paths && model.result.paths.find((one) => one.id === id);
    element.textContent = stored ? stored.text :
        model.result ? '' : 'The text comes at the end: this run records no tokens.';
    return;
  }
  fill(element, tokens.map((token) => {
    const share = high > low && Number.isFinite(token[what]) ? (token[what] - low) / (high - low) : 1;
    const unsure = what === 'confidence' ? 1 - share : share;
    const title = `confidence ${Number(token.confidence).toFixed(2)}, entropy ${Number(token.entropy).toFixed(2)}` +
        (token.routes > 1 ? `, ${token.routes} routes` : '');
    const span = make('span', token.text, {title, style: `background:rgba(220,60,40,${(0.75 * unsure).toFixed(2)})`});
    if (token.routes > 1) span.className = 'refined';
    return span;
  }));
}
