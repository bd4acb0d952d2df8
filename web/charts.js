// The charts of a run. Those along time share the tree's axis.
'use strict';

// A uPlot that is made anew when its series or its axes change.
class Chart {
  // `time`: {axis, hover(token, value, plot), zoom(from, to)} of a chart along time.
  constructor(element, height, time) {
    this.element = element;
    this.height = height;
    this.time = time;
    this.plot = null;
    this.key = '';
    this.signs = [];  // [x, y, colour, sign]: drawn over the lines
    this.bars = [];   // [x, low, high, colour]: error bars
    if (time) {
      element.addEventListener('dblclick', () => time.zoom(null));
      element.addEventListener('pointerleave', () => time.hover(null));
    }
  }

  // `axes`: {x: {label, scale}, y: {label, range}}; `key` names what the plot was made for.
  draw(data, series, key, axes) {
    const width = Math.max(200, this.element.clientWidth);
    const whole = `${key}|${this.time ? this.time.axis.left : ''}`;
    if (whole !== this.key || !this.plot) {
      this.clear();
      this.key = whole;
      this.plot = new uPlot(this.options(width, series, axes), data, this.element);
      return;
    }
    if (this.plot.width !== width) this.plot.setSize({width, height: this.height});
    this.plot.setData(data);
  }

  options(width, series, {x, y, legend}) {
    const font = '11px system-ui';
    const look = {stroke: () => theme.get('--soft'), grid: {stroke: () => theme.get('--line'), width: 0.5},
                  ticks: {show: false}, font, labelFont: font, labelSize: 18, labelGap: 2};
    const left = this.time ? this.time.axis.left - look.labelSize : 46;
    const xAxis = {...look, label: x.label, size: 24, ...x.axis};
    const scale = this.time ? {range: () => this.time.axis.now()} : x.scale;
    const drag = {x: true, y: false};
    return {width, height: this.height, series, padding: [8, this.time ? this.time.axis.right : 14, 0, 0],
            axes: [xAxis, {...look, label: y.label, size: left}],
            scales: {x: {time: false, ...scale}, y: {range: y.range}},
            cursor: this.time ? {x: false, y: false, points: {show: false}, drag: {...drag, setScale: false}} : {drag},
            legend: {show: !this.time && legend !== false, live: false},
            hooks: {draw: [(plot) => this.drawSigns(plot)], ...(this.time ? this.timeHooks() : {})}};
  }

  timeHooks() {
    return {
      setCursor: [(plot) => {
        const {left, top} = plot.cursor;
        if (left >= 0) this.time.hover(Math.round(plot.posToVal(left, 'x')), plot.posToVal(top, 'y'), plot);
      }],
      setSelect: [(plot) => {
        const {left, width} = plot.select;
        const token = (at) => Math.round(plot.posToVal(at, 'x'));
        if (width > 8) this.time.zoom(token(left), token(left + width));
        plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
      }],
    };
  }

  drawSigns(plot) {
    const context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(plot.bbox.left - 6, plot.bbox.top - 6, plot.bbox.width + 12, plot.bbox.height + 12);
    context.clip();
    context.font = `${13 * devicePixelRatio}px system-ui`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const [x, low, high, colour] of this.bars) drawErrorBar(context, plot, x, low, high, colour);
    for (const [x, y, colour, sign] of this.signs) {
      context.fillStyle = theme.get(colour);
      context.fillText(sign, plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true));
    }
    context.restore();
  }

  // Takes the plot away; `why` there is none, in words.
  clear(why) {
    if (this.plot) this.plot.destroy();
    this.plot = null;
    fill(this.element, why ? [make('p', why, {class: 'hint'})] : []);
  }
}

function drawErrorBar(context, plot, x, low, high, colour) {
  const middle = plot.valToPos(x, 'x', true);
  const [top, bottom] = [high, low].map((value) => plot.valToPos(value, 'y', true));
  const cap = 5 * devicePixelRatio;
  context.strokeStyle = colour;
  context.lineWidth = 1.5 * devicePixelRatio;
  context.beginPath();
  context.moveTo(middle, top);
  context.lineTo(middle, bottom);
  for (const y of [top, bottom]) {
    context.moveTo(middle - cap, y);
    context.lineTo(middle + cap, y);
  }
  context.stroke();
}

// Why a chart of a run is empty.
function missing(model, what) {
  return model.result ? `This run has no ${what}.` : `There is no ${what} yet.`;
}

// A path's window means on a grid of tokens.
function curveRow(path, points, step) {
  const row = new Array(points).fill(null);
  const {means, size} = path.curve;
  for (let i = 0; i < means.length; i++) {
    const at = Math.floor((path.start + i * size) / step);
    if (at < points) row[at] = means[i];
  }
  if (path.tokens.length > 0) return row;
  for (const [position, mean] of path.points) row[Math.min(points - 1, Math.floor(position / step))] = mean;
  return row;
}

// Window means of all paths on one grid of tokens, and the threshold.
function drawConfidence(chart, model, selected) {
  const paths = [...model.paths.values()].filter((path) => path.points.length > 0);
  if (paths.length === 0) {
    chart.clear(model.head ? missing(model, 'confidence') : '');
    return;
  }
  paths.sort((a, b) => (a.id === selected) - (b.id === selected));  // the chosen one above the others
  const step = Math.max(Math.ceil(model.longest / (2 * MOST_POINTS)), ...paths.map((path) => path.curve.size));
  const points = Math.max(1, Math.ceil(model.longest / step));
  const xs = Array.from({length: points}, (_, i) => i * step);
  const data = [xs, ...paths.map((path) => curveRow(path, points, step))];
  const colour = (path) => theme.get(path.id === selected ? '--ink' : statusOf(path)[1]);
  const series = [{label: 'token'}].concat(paths.map((path) => ({
    label: `path ${path.id}`, width: path.id === selected ? 2.5 : 1, spanGaps: true, points: {show: false},
    alpha: path.id === selected ? 1 : paths.length <= MANY_PATHS ? 0.7 : 0.25, stroke: () => colour(path)})));
  if (model.threshold !== null) {
    data.push(xs.map(() => model.threshold));
    series.push({label: 'threshold', width: 2, dash: [6, 4], points: {show: false},
                 stroke: () => theme.get('--pruned')});
  }
  chart.draw(data, series, `${paths.map((path) => path.id)}|${selected}|${model.threshold !== null}`,
             {x: {}, y: {label: 'confidence (window mean)'}});
}

const ACTION_DASHES = {none: [2, 2], single_token: [], multi_token: [8, 3], branch: [8, 3, 2, 3]};

// The score of each action at each decision, with the sign of the chosen one.
function drawScores(chart, model) {
  if (model.decisions.length === 0) {
    chart.clear(model.head ? missing(model, 'decision') : '');
    return;
  }
  const xs = model.decisions.map((decision) => decision.position);
  const series = ACTIONS.map((name) => ({
    label: ACTION_SIGNS[name][0], stroke: () => theme.get(ACTION_SIGNS[name][1]), width: 1.5,
    dash: ACTION_DASHES[name], points: {show: false}}));
  chart.signs = model.decisions.filter(({action, scores}) => Number.isFinite(scores[action])).map(
      ({action, scores, position}) => [position, scores[action], ...ACTION_SIGNS[action].slice(1)]);
  chart.draw([xs, ...ACTIONS.map((name) => model.decisions.map((decision) => decision.scores[name]))],
             [{label: 'token'}, ...series], 'scores',
             {x: {label: 'tokens from the prompt on'}, y: {label: 'score'}});
}

function drawStatistics(chart, model) {
  if (model.decisions.length === 0) {
    chart.clear();
    return;
  }
  const names = ['confidence', 'entropy', 'consensus', 'diversity', 'variance'];
  const colours = ['--finished', '--pruned', '--a3', '--a2', '--a1'];
  const dashes = [[], [8, 3], [2, 2], [8, 3, 2, 3], [4, 6]];
  chart.draw([model.decisions.map((decision) => decision.position),
              ...names.map((name) => model.decisions.map((decision) => decision.normalised[name]))],
             [{label: 'token'}].concat(names.map((name, i) => ({
               label: name, width: 1.5, dash: dashes[i], points: {show: false},
               stroke: () => theme.get(colours[i])}))),
             'statistics',
             {x: {label: 'tokens from the prompt on'}, y: {label: 'share of the warm-up\u2019s largest'}});
}

// The decisions in the plane of confidence and diversity, with the sign of the chosen action.
function drawScatter(chart, model) {
  if (model.decisions.length === 0) {
    chart.clear();
    return;
  }
  const decisions = [...model.decisions].sort((a, b) => a.normalised.confidence - b.normalised.confidence);
  chart.signs = decisions.map(({normalised, action}) =>
      [normalised.confidence, normalised.diversity, ...ACTION_SIGNS[action].slice(1)]);
  chart.draw([decisions.map((decision) => decision.normalised.confidence),
              decisions.map((decision) => decision.normalised.diversity)],
             [{label: 'confidence'}, {label: 'decision', paths: () => null, points: {show: false}}], 'scatter',
             {x: {label: 'confidence, share of the warm-up\u2019s largest', scale: {range: [-0.02, 1.02]}},
              y: {label: 'diversity'}, legend: false});
}

function drawActions(element, notes, model) {
  const total = model.decisions.length;
  fill(notes, model.notes().map(([note, count]) => make('li', `${count} of ${total} decisions: ${note}`)));
  fill(element, total === 0 ? [] : [...model.actionCounts()].map(([name, count]) => {
    const [words, colour, sign] = ACTION_SIGNS[name];
    const line = make('i', undefined, {style: `width:${100 * count / total}%;background:var(${colour})`});
    const label = around('span', [make('span', sign, {style: `color:var(${colour})`}), ` ${words}`]);
    return around('div', [label, line, make('span', String(count))], {class: 'bar'});
  }));
}
