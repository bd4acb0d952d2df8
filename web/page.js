// The page: wires forms, streams and views together, and schedules drawing so that a frame stays
// short: one view a frame, the tree more often than the charts.
'use strict';

const $ = (id) => document.getElementById(id);
const FRAMES_BETWEEN_CHARTS = 20;

let model = new RunModel();
let live = null;       // {id, cells, asked, abort} of the run whose records come
const KEY_WANTED = 'The server wants its API key. Enter it under "API key".';
const START = 'Ask a question, choose a run or open a trace.';
let selected = null;
let dirty = true;
let frame = 0;
let redrawAll = true;  // after a choice, or at the end of a run
let frameTimes = null;  // filled while a replay is measured
let replay = null;

const tree = new TreeView($('tree'), choose);
const charts = {confidence: new Chart($('confidence'), 240), controller: new Chart($('controller'), 200),
                statistics: new Chart($('statistics'), 240), scatter: new Chart($('scatter'), 240),
                cost: new Chart($('accuracy-cost'), 260)};
const pairTrees = ['first-tree', 'second-tree'].map((id) => new TreeView($(id), () => {}));

function choose(id) {
  selected = id;
  tree.selected = id;
  redrawAll = dirty = true;
}

// One part of the page; they take turns.
const PARTS = [
  () => drawConfidence(charts.confidence, model, selected),
  () => { drawDecisions(charts.controller, charts.statistics, model); drawActions($('actions'), $('notes'), model); },
  () => drawScatter(charts.scatter, model),
  () => drawBallot($('ballot'), model),
  () => drawSelected(),
];

function drawSelected() {
  drawPath($('text'), $('facts'), model, selected, $('heat').value);
  $('path-title').textContent = selected === null ? 'Path' : `Path ${selected}`;
  const path = model.paths.get(selected);
  const may = live !== null && live.id !== null && path !== undefined && path.status === 'running';
  $('prune').disabled = $('fork').disabled = !may;
}

function drawState() {
  drawNumbers($('numbers'), model, live);
  const answers = model.answers();
  const best = model.result ? model.result.answer : answers.length ? `${answers[0][0]} ...` : null;
  $('answer').textContent = best === null ? '\u2013' : best;
  $('shown-question').textContent = model.head ? model.head.question || '' : '';
  $('share').disabled = $('replay').disabled = model.records.length === 0 || live !== null;
}

function drawFrame() {
  const begin = performance.now();
  if (replay) replay.advance(begin);
  if (dirty) {
    frame++;
    if (redrawAll) {
      redrawAll = false;
      drawState();
      tree.draw(model);
      PARTS.forEach((part) => part());
      drawPair();
    } else {
      const part = frame % FRAMES_BETWEEN_CHARTS;
      if (part < 4) PARTS[part]();
      else if (part % 4 === 0) tree.draw(model);
      else if (part === 5) drawState();
      else if (part === 7 && model.paths.get(selected) && model.paths.get(selected).status === 'running') PARTS[4]();
    }
    dirty = live !== null || replay !== null;
    if (!dirty && frame) redrawAll = false;
  }
  if (frameTimes) frameTimes.push(performance.now() - begin);
  requestAnimationFrame(drawFrame);
}

function take(record) {
  model.take(record);
  if (record.record === 'result' && selected === null) choose(model.winner());
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
  redrawAll = dirty = true;
}

function say(text, failed) {
  $('state').textContent = text;
  $('state').classList.toggle('failed', Boolean(failed));
}

function headers() {
  const key = $('key').value;
  return Object.assign({'Content-Type': 'application/json'}, key ? {Authorization: `Bearer ${key}`} : {});
}

async function failure(response) {
  try {
    return (await response.json()).error.message;
  } catch (error) {
    return `HTTP ${response.status}`;
  }
}

// Calls take(object) for the data of each server-sent event.
async function readEvents(response, each) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const events = (buffer + value).split('\n\n');
    buffer = events.pop();
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data && data !== 'data: [DONE]') each(JSON.parse(data.slice(6)));
    }
  }
}

// A record of the run that is shown; it runs from its first path on.
function receive(record) {
  if (record.record === 'run' && !live.asked) fillForm(record);
  if (record.record === 'path' && model.paths.size === 0) say('Running ...');
  take(record);
}

// Watches a run. `id`: null where it is asked for, and the reply names it.
async function follow(id, request, path) {
  start();
  const mine = live = {id, cells: 0, asked: id === null, abort: new AbortController()};
  $('stop').disabled = false;
  say('Waiting ...');
  let trouble = null;
  try {
    const response = await fetch(path, {...request, headers: headers(), signal: mine.abort.signal});
    if (!response.ok) throw new Error(await failure(response));
    mine.id = id || response.headers.get('X-Hyper-Run');
    if (live === mine) show(mine.id);
    await readEvents(response, (data) => {
      if (live !== mine) return;
      if (data.error) trouble = data.error.message;
      if (data.record) receive(data);
    });
  } catch (error) {
    trouble = error.name === 'AbortError' ? 'stopped' : error.name === 'TypeError' ?
        `the server does not answer (${error.message})` : error.message;
  }
  refreshRuns();
  if (live !== mine) return;
  live = null;
  model.close();
  redrawAll = dirty = true;
  $('stop').disabled = true;
  say(trouble ? `Ended: ${trouble}` : ending(), trouble);
}

// The vote so far is the reply, so the run ends as any other; one that has no id yet is given up.
function stop() {
  if (live && live.id) post(`/v1/runs/${live.id}/cancel`);
  else if (live) live.abort.abort();
}

function ending() {
  const notes = model.notices.length ? ` Notes: ${model.notices.join('; ')}` : '';
  return model.result && model.result.partial ? `Partial: ${model.result.partial_reason}.${notes}`
                                              : `Done.${notes}`;
}

function ask(event) {
  event.preventDefault();
  show('');
  const hyper = {events: true, 'token-records': true, 'keep-running': true};
  if ($('width').value) hyper.width = Number($('width').value);
  const body = {model: $('method').value, stream: true, hyper,
                messages: [{role: 'user', content: $('question').value}]};
  if ($('seed').value) body.seed = Number($('seed').value);
  follow(null, {method: 'POST', body: JSON.stringify(body)}, '/v1/chat/completions');
}

async function post(path) {
  const response = await fetch(path, {method: 'POST', headers: headers()});
  if (!response.ok && live) say(await failure(response), true);  // one that has just ended says so itself
}

async function loadMethods() {
  const response = await fetch('/v1/models', {headers: headers()}).catch(() => null);
  $('go').disabled = !response || !response.ok;
  if (!response || !response.ok) {
    say(!response ? 'The server does not answer.' : response.status === 401 ? KEY_WANTED : await failure(response),
        true);
    return;
  }
  if ($('state').textContent === KEY_WANTED) say(START);
  const models = (await response.json()).data.slice(1);
  fill($('method'), models.map((one) => make('option', one.id, {value: one.id, title: one.description})));
  const wanted = models.find((one) => one.id.endsWith(':hyper'));
  if (wanted) $('method').value = wanted.id;
}

// Plays records again at `rate` tokens/s; calls done() at the end.
class Replay {
  constructor(records, rate, done) {
    this.records = records;
    this.rate = rate;
    this.done = done;
    this.at = 0;
    this.tokens = 0;
    this.begin = null;
  }
  advance(now) {
    this.begin = this.begin === null ? now : this.begin;
    const due = (now - this.begin) / 1000 * this.rate;
    while (this.at < this.records.length && this.tokens <= due) {
      const record = this.records[this.at++];
      take(record);
      if (record.record === 'token') this.tokens++;
    }
    if (this.at >= this.records.length) {
      replay = null;
      redrawAll = dirty = true;
      this.done();
    }
  }
}

// Resolves with the script time of the frames; `onto`: a run that the records go on with.
function playAgain(records, rate, onto) {
  return new Promise((resolve) => {
    start(onto);
    frameTimes = [];
    replay = new Replay(records, rate, () => {
      const times = frameTimes.sort((a, b) => a - b);
      frameTimes = null;
      const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
      resolve({frames: times.length, median: at(0.5), p95: at(0.95), most: times[times.length - 1]});
    });
  });
}

async function onReplay() {
  const records = model.records;
  const tokens = records.filter((record) => record.record === 'token').length;
  $('replay').disabled = true;
  say('Replaying ...');
  const times = await playAgain(records, Math.max(200, tokens / 15));
  say(`Replayed. Script per frame: median ${times.median.toFixed(2)} ms, 95 % below ${times.p95.toFixed(2)} ms.`);
}

function loadLines(text) {
  start();
  show('');
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      take(JSON.parse(line));
    } catch (error) {
      say('The file is no trace: a line is not JSON.', true);
      return;
    }
  }
  say(ending());
}

// The page with its scripts and the records inside, as one file.
async function share() {
  const text = (name) => fetch(`/page/${name}`).then((response) => response.text());
  const [uplotStyle, style, ...scripts] = await Promise.all(
      ['uplot.css', 'page.css', 'uplot.js', 'model.js', 'views.js', 'studies.js', 'runs.js', 'page.js'].map(text));
  const html = await fetch('/').then((response) => response.text());
  const parts = {records: model.records, other: other ? other.records : null, studies};
  const data = JSON.stringify(parts).replaceAll('<', '\\u003c');
  const body = html.slice(html.indexOf('<body>'), html.indexOf('<script'));
  const script = (code) => `<script>${code.replaceAll('</script', '<\\/script')}</script>`;
  const whole = `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1"><title>HyPER run</title>` +
      `<style>${uplotStyle}${style}</style></head>${body}` +
      `<script type="application/json" id="run-data">${data}</script>` +
      scripts.map(script).join('') + '</body></html>';
  const link = make('a', '', {href: URL.createObjectURL(new Blob([whole], {type: 'text/html'})),
                              download: `hyper-${(model.head && model.head.id) || 'run'}.html`});
  link.click();
  URL.revokeObjectURL(link.href);
}

function embedded() { return $('run-data'); }

function openEmbedded() {
  const online = [$('ask'), document.querySelector('label[for=trace]'), $('runs-panel'), $('new'), $('to-runs'),
                  $('share'), $('prune'), $('fork')];
  online.forEach((element) => { element.hidden = true; });
  $('other').parentElement.hidden = true;
  const data = JSON.parse(embedded().textContent);
  data.records.forEach(take);
  studies = data.studies;
  if (data.other) {
    other = new RunModel();
    data.other.forEach((record) => other.take(record));
  }
  drawStudies();
  say(ending());
  redrawAll = true;
}

function wire() {
  $('heat').addEventListener('change', () => { redrawAll = dirty = true; });
  $('order').addEventListener('change', (event) => {
    tree.orderBy = event.target.value;
    redrawAll = dirty = true;
  });
  $('replay').addEventListener('click', onReplay);
  fill($('legend'), LEGEND.map(([name, colour]) => {
    const item = make('li');
    item.append(make('span', '', {class: 'swatch', style: `background:var(${colour})`}), name);
    return item;
  }));
  addEventListener('resize', () => { redrawAll = dirty = true; });
  if (embedded()) {
    openEmbedded();
    return;
  }
  $('ask').addEventListener('submit', ask);
  $('stop').addEventListener('click', stop);
  $('share').addEventListener('click', share);
  $('key').value = sessionStorage.getItem('key') || '';
  $('key').addEventListener('change', () => {
    sessionStorage.setItem('key', $('key').value);
    connect();
  });
  $('new').addEventListener('click', () => { blank(); $('question').focus(); });
  $('to-runs').addEventListener('click', () => {
    $('runs-panel').scrollIntoView();
    $('search').focus({preventScroll: true});
  });
  $('search').addEventListener('input', drawRuns);
  $('more').addEventListener('click', () => { mostRuns = 1000; refreshRuns(); });
  $('trace').addEventListener('change', async (event) => {
    if (event.target.files.length) loadLines(await event.target.files[0].text());
  });
  addEventListener('hashchange', route);
  addEventListener('popstate', route);
  $('other').addEventListener('change', (event) => loadOther(event.target.value));
  for (const action of ['prune', 'fork']) {
    $(action).addEventListener('click', () => live && post(`/v1/runs/${live.id}/paths/${selected}/${action}`));
  }
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

wire();
requestAnimationFrame(drawFrame);
