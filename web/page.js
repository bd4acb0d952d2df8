// The page: wires forms, streams and views together, and schedules drawing so that a frame stays
// short: one view a frame, the tree more often than the charts.
'use strict';

const $ = (id) => document.getElementById(id);
const FRAMES_BETWEEN_CHARTS = 20;

let model = new RunModel();
let live = null;       // {id, cells, abort} of the run that is being watched
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
  () => { drawDecisions(charts.controller, charts.statistics, model); drawActions($('actions'), model); },
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

function take(record) { model.take(record); dirty = true; }

function start(fresh) {
  model = fresh || new RunModel();
  selected = null;
  tree.selected = null;
  redrawAll = dirty = true;
}

function say(text) { $('state').textContent = text; }

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

function finish(text) {
  live = null;
  redrawAll = dirty = true;
  $('go').disabled = false;
  $('stop').disabled = true;
  say(text);
  if (!embedded()) refreshRuns();
}

async function follow(request, path, describe) {
  start();
  const abort = new AbortController();
  live = {id: null, cells: 0, abort};
  $('go').disabled = true;
  $('stop').disabled = false;
  say('Waiting ...');
  let trouble = null;
  try {
    const response = await fetch(path, {...request, headers: headers(), signal: abort.signal});
    if (!response.ok) throw new Error(await failure(response));
    live.id = describe(response);
    say('Running ...');
    await readEvents(response, (data) => {
      if (data.error) trouble = data.error.message;
      if (data.record) take(data);
    });
  } catch (error) {
    trouble = error.name === 'AbortError' ? 'stopped' : error.message;
  }
  finish(trouble ? `Ended: ${trouble}` : ending());
}

function ending() {
  const notes = model.notices.length ? ` Notes: ${model.notices.join('; ')}` : '';
  return model.result && model.result.partial ? `Partial: ${model.result.partial_reason}.${notes}`
                                              : `Done.${notes}`;
}

function ask(event) {
  event.preventDefault();
  $('runs').value = '';
  const hyper = {events: true, 'token-records': true};
  if ($('width').value) hyper.width = Number($('width').value);
  const body = {model: $('method').value, stream: true, hyper,
                messages: [{role: 'user', content: $('question').value}]};
  if ($('seed').value) body.seed = Number($('seed').value);
  follow({method: 'POST', body: JSON.stringify(body)}, '/v1/chat/completions',
         (response) => response.headers.get('X-Hyper-Run'));
}

async function post(path) {
  const response = await fetch(path, {method: 'POST', headers: headers()});
  if (!response.ok) say(await failure(response));
}

async function refreshRuns() {
  const response = await fetch('/v1/runs', {headers: headers()}).catch(() => null);
  if (!response || !response.ok) return;
  const runs = (await response.json()).data;
  const options = runs.map((run) => make('option',
      `${run.id}: ${run.method}, ${run.status}${run.answer ? `, ${run.answer}` : ''}`, {value: run.id}));
  const [first, second] = [$('runs').value, $('other').value];
  fill($('runs'), [make('option', 'new question', {value: ''}), ...options]);
  $('runs').value = runs.some((run) => run.id === first) ? first : '';
  fill($('other'), [make('option', 'none', {value: ''}), ...options.map((option) => option.cloneNode(true))]);
  $('other').value = second;
  const watched = live && runs.find((run) => run.id === live.id);
  if (watched) live.cells = watched.cells;
}

async function loadMethods() {
  const response = await fetch('/v1/models', {headers: headers()}).catch(() => null);
  if (!response || !response.ok) {
    say('The server wants its API key; enter it and choose Ask.');
    return;
  }
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
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      take(JSON.parse(line));
    } catch (error) {
      say('The file is no trace: a line is not JSON.');
      return;
    }
  }
  say(ending());
}

// The page with its scripts and the records inside, as one file.
async function share() {
  const text = (name) => fetch(`/page/${name}`).then((response) => response.text());
  const [uplotStyle, style, ...scripts] = await Promise.all(
      ['uplot.css', 'page.css', 'uplot.js', 'model.js', 'views.js', 'studies.js', 'page.js'].map(text));
  const html = await fetch('/').then((response) => response.text());
  const shown = {records: model.records, other: other ? other.records : null, studies};
  const data = JSON.stringify(shown).replaceAll('<', '\\u003c');
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
  const live = [$('ask'), document.querySelector('label[for=trace]'), $('runs').parentElement, $('share'),
                $('prune'), $('fork')];
  live.forEach((element) => { element.hidden = true; });
  $('other').parentElement.hidden = true;
  const shown = JSON.parse(embedded().textContent);
  shown.records.forEach(take);
  studies = shown.studies;
  if (shown.other) {
    other = new RunModel();
    shown.other.forEach((record) => other.take(record));
  }
  drawStudies();
  say(model.head ? model.head.question || '' : '');
  redrawAll = true;
}

function wire() {
  $('heat').addEventListener('change', () => { redrawAll = dirty = true; });
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
  $('stop').addEventListener('click', () => live && live.abort.abort());
  $('share').addEventListener('click', share);
  $('key').addEventListener('change', () => { loadMethods(); loadStudies(); refreshRuns(); });
  $('trace').addEventListener('change', async (event) => {
    if (event.target.files.length) loadLines(await event.target.files[0].text());
  });
  $('runs').addEventListener('change', (event) => {
    const id = event.target.value;
    if (id) {
      follow({}, `/v1/runs/${id}/events`, () => id);
    } else {
      start();
      say('Ask a question, choose a run or open a trace.');
    }
  });
  $('other').addEventListener('change', (event) => loadOther(event.target.value));
  for (const action of ['prune', 'fork']) {
    $(action).addEventListener('click', () => live && post(`/v1/runs/${live.id}/paths/${selected}/${action}`));
  }
  setInterval(() => live && refreshRuns(), 1000);
  loadMethods();
  loadStudies();
  refreshRuns();
}

wire();
requestAnimationFrame(drawFrame);
