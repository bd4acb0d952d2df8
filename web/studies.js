// Evaluations of the store, and a second run beside the one that is shown. Draws with what views.js has.
'use strict';

let studies = [];  // rows of /v1/studies
let other = null;  // the second run, a RunModel

const rowColour = (i) => `hsl(${(i * 137) % 360} 65% 45%)`;
const percent = (share) => Number.isFinite(share) ? (100 * share).toFixed(1) : '\u2013';
const rounded = (value) => Number.isFinite(value) ? String(Math.round(value)) : '\u2013';

// One line a row, its colour that of its point in the plot.
function drawStudyTable(table, rows) {
  const head = make('tr');
  ['row', 'suite', 'model', 'questions', 'accuracy %', '95 %', 'effective tokens', 'paths', 's'].forEach((name) =>
      head.append(make('th', name)));
  fill(table.tBodies[0], [head, ...rows.map((row, i) => {
    const line = make('tr');
    const name = make('td');
    name.append(make('span', '', {class: 'dot', style: `background:${rowColour(i)}`}), row.row || row.method);
    line.append(name);
    [row.suite, row.model, row.questions, percent(row.accuracy), `${percent(row.low)}\u2013${percent(row.high)}`,
     rounded(row.effective_tokens), rounded(row.instances), Number(row.latency_s).toFixed(2)].forEach((cell) =>
        line.append(make('td', String(cell))));
    return line;
  })]);
}

// A point a row: what an answer costs, and how many are right.
function drawAccuracyCost(chart, all) {
  const rows = all.filter((row) => row.effective_tokens > 0);  // the axis is logarithmic
  const xs = [...new Set(rows.map((row) => row.effective_tokens))].sort((a, b) => a - b);
  const data = [xs, ...rows.map((row) => xs.map((x) => x === row.effective_tokens ? 100 * row.accuracy : null))];
  const series = [{label: 'effective tokens'}, ...rows.map((row, i) => ({
    label: row.row || row.method, stroke: rowColour(all.indexOf(row)), paths: () => null,
    points: {show: true, size: 11, fill: rowColour(all.indexOf(row))}}))];
  chart.draw(data, series, rows.map((row) => row.run).join(), {distr: 3});
}

function drawStudies() {
  $('studies-panel').hidden = studies.length === 0;
  if (studies.length === 0) return;
  drawStudyTable($('studies'), studies);
  drawAccuracyCost(charts.cost, studies);
}

// The shown run and the second one, in two columns.
function drawPair() {
  $('pair').hidden = other === null;
  if (other === null) return;
  [model, other].forEach((run, i) => {
    const side = i === 0 ? 'first' : 'second';
    $(`${side}-title`).textContent = run.head ? `${run.head.id}: ${run.head.method}` : 'no run';
    $(`${side}-question`).textContent = run.head ? run.head.question : '';
    const answer = run.result ? run.result.answer : null;
    $(`${side}-answer`).textContent = answer === null || answer === undefined ? '\u2013' : answer;
    drawNumbers($(`${side}-numbers`), run, null);
    drawBallot($(`${side}-ballot`), run);
    pairTrees[i].draw(run);
  });
}

async function loadStudies() {
  const response = await fetch('/v1/studies', {headers: headers()}).catch(() => null);
  if (!response || !response.ok) return;
  studies = (await response.json()).data;
  drawStudies();
}

async function loadOther(id) {
  other = null;
  if (id) {
    const loaded = new RunModel();
    const response = await fetch(`/v1/runs/${id}/events`, {headers: headers()}).catch(() => null);
    if (response && response.ok) {
      await readEvents(response, (data) => { if (data.record) loaded.take(data); });
      other = loaded;
    }
  }
  drawPair();
}
