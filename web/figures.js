// The figures of the studies, from the numbers of `hyper figures`: each panel is an SVG whose series can be
// taken away and whose points tell their numbers.
'use strict';

const SERIES_COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b58900', '#56b4e9'];  // Okabe and Ito's
const SERIES_DASHES = ['', '7 3', '2 3', '8 3 2 3', '12 4', '4 2'];
const SERIES_MARKS = ['\u25cf', '\u25a0', '\u25b2', '\u25c6', '\u25bc', '\u2715'];
const PANEL = {width: 440, height: 290, left: 58, right: 14, top: 12, bottom: 48};

let figures = [];         // of /v1/studies/figures
let hiddenSeries = {};    // family -> true: not drawn
let wantedFigure = '';    // a name or number, from the address

function svg(tag, attributes, children = []) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The series of different panels that belong together: "right (380 paths)" and "right (146 paths)".
const familyOf = (series) => series.name.replace(/ \([^)]*\)$/, '');
const rounded4 = (value) => Math.abs(value) >= 1000 ? thousands(value) : String(Number(value.toPrecision(4)));

// A scale from numbers to pixels: {at(value), ticks}. Ends come from the axis where it has some.
function figureScale(axis, values, [first, last], ticks) {
  let known = values.filter(Number.isFinite).filter((value) => !axis.log || value > 0);
  if (known.length === 0) known = axis.log ? [1, 10] : [0, 1];  // every series is taken away
  let low = axis.low === null ? Math.min(...known) : axis.low;
  let high = axis.high === null ? Math.max(...known) : axis.high;
  if (!(high > low)) [low, high] = axis.log ? [low / 2, low * 2] : [low - 0.5, low + 0.5];
  const map = axis.log ? Math.log : (value) => value;
  if (!axis.log && axis.low === null && low > 0 && low < 0.3 * high) low = 0;
  if (axis.log) [low, high] = [low / 1.1, high * 1.1];
  else if (axis.high === null) high += 0.04 * (high - low);
  const [from, to] = [map(low), map(high)];
  return {ticks: axis.log ? logTicks(low, high) : decimalTicks(low, high, ticks),
          at: (value) => first + (map(value) - from) / (to - from) * (last - first)};
}

// As ticksBetween, for steps below 1 too.
function decimalTicks(from, to, most) {
  const unit = 10 ** (Math.floor(Math.log10(to - from)) - 2);
  return ticksBetween(from / unit, to / unit, most).map((tick) => Number((tick * unit).toPrecision(10)));
}

function drawAxes(panel, x, y) {
  const {width, height, left, right, top, bottom} = PANEL;
  const parts = [];
  for (const tick of y.ticks) {
    parts.push(svg('line', {x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick), class: 'grid'}),
               svg('text', {x: left - 6, y: y.at(tick) + 4, 'text-anchor': 'end'}, [rounded4(tick)]));
  }
  const names = panel.categories;
  const xTicks = names.length ? names.map((name, i) => [i, name]) : x.ticks.map((tick) => [tick, rounded4(tick)]);
  const room = Math.max(4, Math.floor((width - left - right) / Math.max(1, xTicks.length) / 6));
  for (const [tick, name] of xTicks) {
    const label = svg('text', {x: x.at(tick), y: height - bottom + 16, 'text-anchor': 'middle'},
                      [name.length > room ? `${name.slice(0, room - 1)}\u2026` : name]);
    label.append(svg('title', {}, [name]));
    parts.push(label);
  }
  const middle = {'text-anchor': 'middle'};
  const turned = `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`;
  return [...parts, svg('text', {x: (left + width - right) / 2, y: height - 8, ...middle}, [panel.x.label]),
          svg('text', {transform: turned, ...middle}, [panel.y.label])];
}

function errorBar(point, at, y, colour) {
  if (!Number.isFinite(point.low) || !Number.isFinite(point.high)) return [];
  const [low, high] = [y.at(point.low), y.at(point.high)];
  const d = `M${at} ${low}V${high}M${at - 4} ${low}h8M${at - 4} ${high}h8`;
  return [svg('path', {d, stroke: colour, fill: 'none'})];
}

// A point's numbers, shown where the pointer is on it.
function told(element, series, point, panel) {
  const where = panel.categories.length ? panel.categories[point.x] : `${panel.x.label} ${rounded4(point.x)}`;
  const error = Number.isFinite(point.low) ? ` (${rounded4(point.low)} to ${rounded4(point.high)})` : '';
  const name = series.name ? `${series.name}: ` : '';
  element.append(svg('title', {}, [`${name}${where}: ${rounded4(point.y)}${error}`]));
  return element;
}

function lineParts(panel, series, points, look, x, y) {
  const path = points.map((point, i) => `${i ? 'L' : 'M'}${x.at(point.x)} ${y.at(point.y)}`).join('');
  const band = points.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
  const parts = [];
  if (band.length > 1 && series.style !== 'guide') {
    const edge = (name, list) => list.map((point) => `${x.at(point.x)} ${y.at(point[name])}`).join('L');
    parts.push(svg('path', {d: `M${edge('high', band)}L${edge('low', [...band].reverse())}Z`, fill: look.colour,
                            opacity: 0.15}));
  }
  const guide = series.style === 'guide';
  parts.push(svg('path', {d: path, fill: 'none', stroke: guide ? 'var(--soft)' : look.colour,
                          'stroke-width': guide ? 1 : 2, 'stroke-dasharray': look.dash}));
  return parts;
}

function barParts(panel, series, points, look, x, y, place) {
  const slot = Math.abs(x.at(1) - x.at(0)) * 0.8;
  const wide = series.style === 'stack' ? slot : slot / place.count;
  return points.flatMap((point) => {
    const base = series.style === 'stack' ? place.base.get(point.x) || 0 : 0;
    if (series.style === 'stack') place.base.set(point.x, base + point.y);
    const left = x.at(point.x) - slot / 2 + (series.style === 'stack' ? 0 : wide * place.index);
    const [top, bottom] = [y.at(base + point.y), y.at(base)];
    const bar = svg('rect', {x: left, y: Math.min(top, bottom), width: Math.max(1, wide - 1),
                             height: Math.abs(bottom - top), fill: look.colour});
    const errors = series.style === 'stack' ? [] : errorBar(point, left + wide / 2, y, 'var(--ink)');
    return [told(bar, series, point, panel), ...errors];
  });
}

// An accuracy is seen against all of 0 to 100 %, however close the rows are.
function wholeAxis(axis) {
  return /^(accuracy|probability) \(%\)$/.test(axis.label) ? {...axis, low: axis.low || 0, high: axis.high || 100} : axis;
}

// One panel. `look(family)`: colour, dash and mark of a series, the same in all panels.
function panelSvg(panel, look) {
  const drawn = panel.series.filter((series) => !hiddenSeries[familyOf(series)]);
  const points = drawn.flatMap((series) => series.points.filter((point) => Number.isFinite(point.y)));
  const bars = drawn.filter((series) => series.style === 'bars');
  const stacks = drawn.some((series) => series.style === 'stack');
  const sums = new Map();
  for (const series of drawn) {
    if (series.style === 'stack') series.points.forEach(({x, y}) => sums.set(x, (sums.get(x) || 0) + y));
  }
  const {width, height, left, right, top, bottom} = PANEL;
  const byName = panel.categories.length > 0;
  const xAxis = byName ? {low: -0.5, high: panel.categories.length - 0.5, log: false} : panel.x;
  const x = figureScale(xAxis, points.map((point) => point.x), [left, width - right], 5);
  const zero = bars.length || stacks ? [0, ...sums.values()] : [];
  const y = figureScale(wholeAxis(panel.y), [...points.flatMap((point) => [point.y, point.low, point.high]), ...zero],
                        [height - bottom, top], 5);
  const parts = drawAxes(panel, x, y);
  const base = new Map();
  for (const series of drawn) {
    const one = look(familyOf(series));
    const known = series.points.filter((point) => Number.isFinite(point.y));
    if (series.style === 'bars' || series.style === 'stack') {
      parts.push(...barParts(panel, series, known, one, x, y, {base, index: bars.indexOf(series), count: bars.length}));
      continue;
    }
    if (series.style !== 'points') parts.push(...lineParts(panel, series, known, one, x, y));
    if (series.style === 'guide') continue;
    const marked = series.style !== 'line' && series.style !== 'steps';
    for (const point of known) {
      if (marked) parts.push(...errorBar(point, x.at(point.x), y, one.colour));
      const mark = svg('text', {x: x.at(point.x), y: y.at(point.y) + 4, 'text-anchor': 'middle', fill: one.colour,
                                class: 'mark', opacity: marked ? 1 : 0}, [one.mark]);
      parts.push(told(mark, series, point, panel));
    }
  }
  const name = panel.title || panel.y.label;
  return svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': name}, parts);
}

function drawFigure() {
  const figure = figures.find((one) => one.name === $('figure').value);
  $('figure-csv').hidden = !figure || !figure.panels;
  if (!figure) { fill($('figure-panels'), []); return; }
  $('figure-finding').textContent = figure.missing ? `Not drawn: ${figure.missing}` : figure.finding;
  $('figure-notes').textContent = (figure.notes || []).join(' ');
  const panels = figure.panels || [];
  const names = [...new Set(panels.flatMap((panel) => panel.series.filter((series) => series.style !== 'guide')
      .map(familyOf)))];
  const look = (name) => {
    const i = Math.max(0, names.indexOf(name));
    return {colour: SERIES_COLOURS[i % 6], dash: SERIES_DASHES[i % 6], mark: SERIES_MARKS[i % 6]};
  };
  fill($('figure-legend'), names.length < 2 ? [] : names.map((name) => {
    const toggle = make('button', '', {type: 'button', 'aria-pressed': String(!hiddenSeries[name])});
    toggle.append(make('span', look(name).mark, {style: `color:${look(name).colour}`}), ` ${name}`);
    toggle.addEventListener('click', () => {
      hiddenSeries[name] = !hiddenSeries[name];
      drawFigure();
    });
    return around('li', [toggle]);
  }));
  fill($('figure-panels'), panels.map((panel) =>
      around('figure', [make('figcaption', panel.title), panelSvg(panel, look)])));
}

function saveFigureCsv() {
  const figure = figures.find((one) => one.name === $('figure').value);
  const link = make('a', '', {href: URL.createObjectURL(new Blob([figure.csv], {type: 'text/csv'})),
                              download: `${figure.name}.csv`});
  link.click();
  URL.revokeObjectURL(link.href);
}

// Once, when they are first looked at: a large study takes a while to read.
async function loadFigures() {
  if (figures.length === 0) {
    $('figure-finding').textContent = 'The server reads the studies ...';
    const response = await fetch('/v1/studies/figures', {headers: headers()}).catch(() => null);
    if (!response || !response.ok) {
      $('figure-finding').textContent = response ? await failure(response) : 'The server does not answer.';
      return;
    }
    figures = (await response.json()).data;
  }
  listFigures();
}

function listFigures() {
  fill($('figure'), figures.map(({number, name, title, missing: reason}) => make('option',
      `${number === '-' ? '' : `${number}: `}${title}${reason ? ' (not in these studies)' : ''}`, {value: name})));
  const first = figures.find((one) => [one.name, one.number].includes(wantedFigure)) ||
      figures.find((one) => one.name === 'budget' && one.panels) || figures.find((one) => one.panels);
  showFigure(first ? first.name : $('figure').value);
}

function showFigure(name) {
  $('figure').value = name;
  hiddenSeries = {};
  drawFigure();
}
