// Evaluations of the store.
'use strict';

let studies = [];  // rows of /v1/studies

const rowColour = (i) => `hsl(${(i * 137) % 360} 65% 45%)`;
const percent = (share) => Number.isFinite(share) ? (100 * share).toFixed(1) : '\u2013';
const rounded = (value) => Number.isFinite(value) ? String(Math.round(value)) : '\u2013';

// 1, 2 and 5 times powers of ten between two numbers; thinner where there are many.
function logTicks(from, to) {
  const ticks = [];
  if (!(from > 0) || !Number.isFinite(to)) return ticks;
  for (let ten = 10 ** Math.floor(Math.log10(from)); ten <= to; ten *= 10) {
    for (const one of to / from > 1000 ? [1] : [1, 2, 5]) ticks.push(one * ten);
  }
  return ticks.filter((tick) => from <= tick && tick <= to);
}

// Ticks of a logarithmic axis, all of them with their number.
function logAxis(from, to) {
  return {splits: () => logTicks(from, to), filter: (_, ticks) => ticks, values: (_, ticks) => ticks.map(thousands)};
}

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

// A point a row with its interval: what an answer costs, and how many are right.
function drawAccuracyCost(chart, all) {
  const rows = all.filter((row) => row.effective_tokens > 0)  // the axis is logarithmic
      .sort((a, b) => a.effective_tokens - b.effective_tokens);
  const at = (i, value) => rows.map((_, k) => k === i ? value : null);
  const series = rows.map((row) => ({
    label: row.row || row.method, stroke: rowColour(all.indexOf(row)), paths: () => null,
    points: {show: true, size: 10, fill: rowColour(all.indexOf(row))}}));
  chart.bars = rows.map((row) => [row.effective_tokens, 100 * row.low, 100 * row.high, rowColour(all.indexOf(row))]);
  const [least, most] = [rows[0], rows[rows.length - 1]].map((row) => row ? row.effective_tokens : 1);
  chart.draw([rows.map((row) => row.effective_tokens), ...rows.map((row, i) => at(i, 100 * row.accuracy))],
             [{label: 'effective tokens'}, ...series], rows.map((row) => row.run).join(),
             {x: {label: 'effective tokens per answer (logarithmic)', scale: {distr: 3, range: [least / 1.3, most * 1.3]},
                  axis: logAxis(least / 1.3, most * 1.3)},
              y: {label: 'accuracy in %', range: [0, 100]}});
}

function drawStudies() {
  $('studies-panel').hidden = $('to-studies').hidden = studies.length === 0;
  if (studies.length === 0) return;
  drawStudyTable($('studies'), studies);
  drawAccuracyCost(charts.cost, studies);
}

async function loadStudies() {
  const response = await fetch('/v1/studies', {headers: headers()}).catch(() => null);
  if (!response || !response.ok) return;
  studies = (await response.json()).data;
  drawStudies();
}
