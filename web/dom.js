// Elements, colours and signs that all views share.
'use strict';

const STATUSES = {  // how a path ended: colour and sign, so that neither is needed alone
  running: ['running', '--running', '\u25b8'],
  finished: ['finished', '--finished', '\u25cf'],
  length: ['at the limit', '--finished', '\u25d0'],
  pruned: ['pruned', '--pruned', '\u2715'],
  merged: ['merged into another', '--merged', '\u25c7'],
  cancelled: ['cancelled', '--other', '\u25a1'],
  degenerate: ['repeating', '--other', '\u224b'],
  failed: ['failed', '--pruned', '!'],
};
const ACTION_SIGNS = {none: ['none', '--a0', '\u25cb'], single_token: ['single token', '--a1', '\u25b2'],
                      multi_token: ['multi token', '--a2', '\u25a0'], branch: ['branch', '--a3', '\u25c6']};
const statusOf = (path) => STATUSES[path.status] || STATUSES.cancelled;

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

const $ = (id) => document.getElementById(id);

function fill(element, children) { element.replaceChildren(...children); }

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  return element;
}

// An element around others.
function around(tag, children, attributes) {
  const element = make(tag, undefined, attributes);
  element.append(...children);
  return element;
}

// A list of what signs and colours mean.
function drawLegend(list, entries) {
  fill(list, entries.map(([name, colour, sign]) =>
      around('li', [make('span', sign, {style: `color:var(${colour})`, 'aria-hidden': 'true'}), ` ${name}`])));
}

// A table's row.
function tableRow(cells, tag) {
  return around('tr', cells.map((cell) => around(tag || 'td', [cell])));
}

// Makes a canvas as large as asked for, in CSS pixels; returns its context, cleared.
function sizedContext(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Round numbers between two, at most `most`.
function ticksBetween(from, to, most) {
  const raw = Math.max((to - from) / most, 1e-9);
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max([1, 2, 5, 10].find((one) => one * ten >= raw * (1 - 1e-9)) * ten, 1);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}
