// The page: wires forms, streams and views together, and schedules drawing so that a frame stays
// short: one view a frame, the tree more often than the charts.
'use strict';

const FRAMES_BETWEEN_CHARTS = 20;
const SAMPLES = [
  'Finn has 26 shelves with 32 eggs each. Finn gives away 137. How many eggs does Finn have now?',
  'Solve 5x+43=173 for x.',
  'Two numbers differ by 7 and their product is 330. What is the larger number?',
  'Apples cost 12 dollars each and toys cost 13 dollars each. Ben spends exactly 163 dollars and ' +
    'buys at least one of each. How many apples does Ben buy?',
  'Start with 13. Do this 9 times: multiply by 3, add 27, and keep the remainder when divided by ' +
    '41. What is the result?',
];

let model = new RunModel();
let selected = null;
let dirty = true;
let marksDirty = false;
let frame = 0;
let redrawAll = true;  // after a choice, or at the end of a run

const axis = new TimeAxis();
const marks = new Marks($('marks'), $('readout'));
const onTree = {select: choose, hover, zoom, move: moveToken};
const tree = new TreeView($('tree'), axis, onTree);
const time = {axis, zoom, hover: hoverChart};
const charts = {confidence: new Chart($('confidence'), 210, time),
                controller: new Chart($('controller'), 170, time), statistics: new Chart($('statistics'), 240),
                scatter: new Chart($('scatter'), 240), cost: new Chart($('accuracy-cost'), 300)};
const pairTrees = ['first-tree', 'second-tree'].map((id) => new TreeView($(id), new TimeAxis()));

function choose(id) {
  selected = id;
  tree.selected = id;
  showToken(model, null, null);
  redrawAll = dirty = true;
}

function zoom(from, to) {
  axis.zoom(from, to);
  redrawAll = dirty = true;
}

// Marks what the pointer is on: {token, path, answer}; null: on nothing.
function hover(what) {
  marks.hovered = what || {};
  marksDirty = true;
}

// The path of a chart whose line is nearest to the pointer.
function hoverChart(token, value, plot) {
  if (token === null) return hover(null);
  const near = {path: undefined, distance: 12};
  const pixel = (at) => plot.valToPos(at, 'y');
  for (const path of plot === charts.confidence.plot ? model.paths.values() : []) {
    const mean = path.start <= token ? path.meanAt(token) : null;
    const distance = mean === null ? Infinity : Math.abs(pixel(mean) - pixel(value));
    if (distance < near.distance) Object.assign(near, {path: path.id, distance});
  }
  hover({token, path: near.path});
}

// The keys of the tree: the marked token, and the zoom around it.
function moveToken(step, factor) {
  const [from, to] = axis.now();
  const {token = Math.round((from + to) / 2)} = marks.hovered;
  if (factor) {
    axis.scale(token, factor);
    redrawAll = dirty = true;
  }
  hover({token: Math.max(0, Math.min(axis.whole[1], token + step)), path: selected === null ? undefined : selected});
}

const onBallot = {
  pin(answer) {
    marks.pinned = marks.pinned === answer ? null : answer;
    const [best] = [...model.paths.values()].filter((path) => path.answer === answer)
        .sort((a, b) => (b.confidence || 0) - (a.confidence || 0));
    if (best && marks.pinned !== null) choose(best.id);
    marksDirty = true;
  },
  hover(answer) { hover(answer === null ? null : {answer}); },
};

function drawConfidencePart() { drawConfidence(charts.confidence, model, selected); }

// Parts of the page; they take turns.
const PARTS = [
  drawConfidencePart,
  () => { drawScores(charts.controller, model); drawActions($('actions'), $('notes'), model); },
  () => { drawStatistics(charts.statistics, model); drawScatter(charts.scatter, model); },
  () => drawBallot($('ballot'), model, onBallot),
  () => drawSelected(),
];

function drawSelected() {
  drawText(model, selected, $('heat').value);
  const reply = model.result !== null && selected === model.winner();
  $('path-title').textContent = selected === null ? 'Path' : `Path ${selected}${reply ? ', the reply' : ''}`;
  const path = model.paths.get(selected);
  const runs = path !== undefined && path.status === 'running';
  const head = model.head || {};
  $('steer').hidden = live !== null ? live.id === null || head.method === 'plain'
    : embedded() !== null || !(head.id && head.prompt_tokens);
  for (const id of ['prune', 'finish', 'widen']) $(id).hidden = live === null;
  $('prune').disabled = $('finish').disabled = !runs;
  $('fork').disabled = path === undefined || (!runs && $('fork-at').value === '');
  if ($('path-list').open) drawPathTable($('path-table'), model);
}

function drawState() {
  const empty = model.head === null && model.paths.size === 0;
  document.body.classList.toggle('empty', empty);
  document.body.classList.toggle('undecided', model.decisions.length === 0);
  drawNumbers($('numbers'), model, live);
  fill($('account'), account(model).map((sentence) => make('li', sentence)));
  const answers = model.answers();
  const best = model.result ? model.result.answer : answers.length ? `${answers[0][0]} ...` : null;
  $('answer').textContent = best === null ? '\u2013' : best;
  $('shown-question').textContent = model.head ? model.head.question || '' : '';
  $('share').disabled = $('replay').disabled = model.records.length === 0 || live !== null;
  $('whole').hidden = axis.zoomed === null;
}

function drawAll() {
  drawState();
  axis.range(model);
  tree.draw(model);
  PARTS.forEach((part) => part());
  drawPair();
  marksDirty = true;
}

function drawFrame() {
  requestAnimationFrame(drawFrame);  // first: what fails in one frame does not end the others
  const begin = performance.now();
  if (replay) replay.advance(begin);
  if (dirty) {
    frame++;
    if (redrawAll) {
      redrawAll = false;
      drawAll();
    } else {
      const part = frame % FRAMES_BETWEEN_CHARTS;
      if (part < 4) PARTS[part]();
      else if (part % 4 === 0) tree.draw(model);
      else if (part === 5) drawState();
      else if (part === 7 && model.paths.get(selected) && model.paths.get(selected).status === 'running') PARTS[4]();
    }
    dirty = live !== null || replay !== null;
  } else if (marksDirty) {
    marksDirty = false;
    marks.draw(model, tree, axis, charts.confidence.plot);
  }
  if (frameTimes) frameTimes.push(performance.now() - begin);
}

function take(record) {
  model.take(record);
  if (record.record === 'result') {
    if (selected === null) choose(model.winner());
    resetWhatIf(model, onBallot);
  }
  dirty = true;
}

// Leaves what is shown. A run that was asked for here goes on; what it sends is not looked at.
function start(fresh) {
  if (live && !live.asked) live.abort.abort();
  live = replay = frameTimes = null;
  $('stop').disabled = true;
  model = fresh || new RunModel();
  selected = null;
  tree.selected = null;
  axis.zoomed = null;
  marks.hovered = {};
  marks.pinned = null;
  $('what-if').hidden = true;
  showToken(model, null, null);
  redrawAll = dirty = true;
}

function drawNumbers(list, run, watched) {
  const head = run.head || {};
  const facts = [['method', head.method || '-'],
                 ['width', head.options && head.method !== 'plain' ? head.options.width : '-'],
                 ['seed', head.seed === undefined ? '-' : head.seed],
                 ['paths', run.paths.size], ['running', run.running()], ['tokens', run.tokens()],
                 ['decisions', run.decisions.length],
                 ['threshold', run.threshold === null ? '-' : run.threshold.toFixed(2)]];
  if (watched && watched.cells) facts.push(['KV cells', watched.cells]);
  if (run.votes()) {
    const ledger = run.result.ledger;
    facts.push(['effective tokens', ledger.effective], ['peak lanes', ledger.lanes_peak],
               ['peak KV cells', ledger.cells_peak], ['voting paths', run.result.voting_paths]);
    if (run.result.timing) facts.push(['seconds', run.result.timing.wall_s.toFixed(2)]);
  }
  fill(list, facts.map(([name, value]) => around('div', [make('dt', name), make('dd', String(value))])));
}

// The paths in the order of the tree, for those who cannot see it.
function drawPathTable(table, run) {
  const fixed = (value) => Number.isFinite(value) ? value.toFixed(2) : '\u2013';
  fill(table.tBodies[0], [
    tableRow(['path', 'parent', 'ended', 'answer', 'tokens', 'confidence', 'lowest window'], 'th'),
    ...tree.rows.map((id) => run.paths.get(id)).map((path) => {
      const open = make('button', `path ${path.id}`, {type: 'button', class: 'link'});
      open.addEventListener('click', () => choose(path.id));
      return tableRow([open, path.parent === null ? '' : String(path.parent), statusOf(path)[0], path.answer || '',
                       String(path.length), fixed(path.confidence), fixed(path.lowestWindow)]);
    })]);
}

// The marked token under the pointer, or as the arrow keys go.
function wireText() {
  const text = $('text');
  const mark = (span) => {
    showToken(model, selected, span);
    hover(span ? {token: Number(span.dataset.token), path: selected} : null);
  };
  text.addEventListener('pointerover', (event) => mark(event.target.closest('[data-token]')));
  text.addEventListener('pointerleave', () => mark(null));
  text.addEventListener('blur', () => mark(null));
  text.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const spans = [...text.querySelectorAll('[data-token]')];
    if (event.key === 'Escape') mark(null);
    if (!step || spans.length === 0) return;
    event.preventDefault();
    const at = spans.findIndex((span) => span.classList.contains('here'));
    const next = spans[Math.max(0, Math.min(spans.length - 1, at + step))];
    next.scrollIntoView({block: 'nearest'});
    mark(next);
  });
}

function wireViews() {
  const redraw = () => { redrawAll = dirty = true; };
  $('heat').addEventListener('change', redraw);
  $('order').addEventListener('change', (event) => {
    tree.orderBy = event.target.value;
    redraw();
  });
  $('whole').addEventListener('click', () => zoom(null));
  $('path-list').addEventListener('toggle', redraw);
  $('replay').addEventListener('click', onReplay);
  $('figure').addEventListener('change', () => showFigure($('figure').value));
  $('figure-csv').addEventListener('click', saveFigureCsv);
  for (const id of ['what-rule', 'what-threshold', 'what-paths']) {
    $(id).addEventListener('input', () => drawWhatIf(model, onBallot));
  }
  drawLegend($('legend'), [...Object.values(STATUSES), ['refined over routes', '--refined', '\u25ac']]);
  drawLegend($('action-legend'), Object.values(ACTION_SIGNS));
  wireText();
  addEventListener('resize', redraw);
}

// Changes of the run that is shown: what the fields beside the path's text say. A run that has ended
// stays as it is; the fork of it is a run of its own, which is opened.
function wireSteering() {
  const text = () => $('fork-text').value ? {text: $('fork-text').value} : {};
  const count = () => ({n: Number($('fork-n').value) || 1});
  const number = (id, name) => $(id).value === '' ? {} : {[name]: Number($(id).value)};
  const steer = async (what, body) => {
    const id = live ? live.id : model.head.id;
    const done = await post(`/v1/runs/${id}/${what}`, body);
    if (done && done.id !== id) location.hash = `#/runs/${done.id}`;
  };
  const onPath = (action, body) => steer(`paths/${selected}/${action}`, body);
  $('prune').addEventListener('click', () => onPath('prune', {}));
  $('finish').addEventListener('click', () => onPath('finish', text()));
  $('widen').addEventListener('click', () => steer('paths', count()));
  $('fork').addEventListener('click', () => {
    onPath('fork', {...number('fork-at', 'at'), ...text(), ...count(),
                    ...number('fork-temperature', 'temperature'), ...number('fork-seed', 'seed')});
  });
  $('fork-at').addEventListener('input', () => { redrawAll = dirty = true; });
  $('text').addEventListener('click', (event) => {
    const span = event.target.closest('[data-token]');
    if (!span) return;
    $('fork-at').value = span.dataset.token;
    redrawAll = dirty = true;
  });
}

function wireServer() {
  $('ask').addEventListener('submit', ask);
  $('stop').addEventListener('click', stop);
  $('share').addEventListener('click', share);
  $('key').value = sessionStorage.getItem('key') || '';
  $('key').addEventListener('change', () => {
    sessionStorage.setItem('key', $('key').value);
    connect();
  });
  $('samples').append(...SAMPLES.map((question) => {
    const sample = make('button', question, {type: 'button'});
    sample.addEventListener('click', () => {
      $('question').value = question;
      $('ask').requestSubmit();
    });
    return sample;
  }));
  $('new').addEventListener('click', () => { blank(); $('question').focus(); });
  $('to-runs').addEventListener('click', () => {
    $('runs-panel').scrollIntoView();
    $('search').focus({preventScroll: true});
  });
  $('to-studies').addEventListener('click', () => { location.hash = '#/studies'; });
  $('figures').addEventListener('toggle', () => $('figures').open && loadFigures());
  $('search').addEventListener('input', drawRuns);
  $('more').addEventListener('click', () => { mostRuns = 1000; refreshRuns(); });
  $('trace').addEventListener('change', async (event) => {
    if (event.target.files.length) loadLines(await event.target.files[0].text());
  });
  addEventListener('hashchange', route);
  addEventListener('popstate', route);
  $('other').addEventListener('change', (event) => loadOther(event.target.value));
  wireSteering();
  let seconds = 0;
  setInterval(() => (live || ++seconds % 5 === 0) && !document.hidden && refreshRuns(), 1000);
  connect();
}

// What needs the key: the methods, the runs, and the one that the address names.
async function connect() {
  loadStudies();
  refreshRuns();
  await loadMethods();
  if (live || $('method').options.length === 0) return;
  shown = '';
  route();
}

wireViews();
if (embedded()) openEmbedded();
else wireServer();
requestAnimationFrame(drawFrame);
