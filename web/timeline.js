// The time axis that the tree, the decisions, the confidence and the scores share, and the marks of what
// the pointer is on over all of them.
'use strict';

class TimeAxis {
  constructor() {
    this.zoomed = null;  // [from, to] in tokens; null: the whole run
    this.whole = [0, 16];
    this.left = 112;     // of the drawings, in pixels: labels and the axes of values
    this.right = 16;
  }
  range(model) {
    this.left = innerWidth < 600 ? 76 : 112;
    this.whole = [0, Math.max(model.longest, 16)];
    return this.now();
  }
  now() { return this.zoomed || this.whole; }
  // Where a token is in a drawing of this width.
  x(token, width) {
    const [from, to] = this.now();
    return this.left + (width - this.left - this.right) * (token - from) / (to - from);
  }
  tokenAt(x, width) {
    const [from, to] = this.now();
    const share = (x - this.left) / Math.max(1, width - this.left - this.right);
    return Math.round(from + Math.max(0, Math.min(1, share)) * (to - from));
  }
  // Between two tokens, in any order; the whole run where `from` is null or hardly anything is left.
  zoom(from, to) {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    this.zoomed = from === null || high - low < 4 ? null : [Math.max(0, low), Math.min(this.whole[1], high)];
  }
  // Closer (factor below 1) or further, around a token.
  scale(around, factor) {
    const [from, to] = this.now();
    const next = [around - (around - from) * factor, around + (to - around) * factor].map(Math.round);
    if (next[0] <= 0 && next[1] >= this.whole[1]) this.zoomed = null;
    else this.zoom(Math.max(0, next[0]), next[1]);
  }
}

// What is known at a token: of the pool, of a path, and the decision there. One line of text; pure.
function readout(model, {token, path: id}) {
  const parts = [];
  const path = model.paths.get(id);
  if (Number.isFinite(token)) parts.push(`token ${token}: ${model.runningAt(token)} of ${model.paths.size} paths`);
  if (path) {
    const mean = Number.isFinite(token) ? path.meanAt(token) : null;
    parts.push(`path ${id}, ${statusOf(path)[0]}` + (path.answer !== null ? `, answer ${path.answer}` : '') +
        `, ${path.length} tokens` + (mean === null ? '' : `, confidence ${mean.toFixed(2)}`));
  }
  const near = model.decisionAt(token);
  if (near) {
    parts.push(`decision at ${near.position}: ${ACTION_SIGNS[near.action][0]}` +
        (near.paths_after === near.paths_before ? '' : `, ${near.paths_before} to ${near.paths_after} paths`) +
        (near.note ? ` (${near.note})` : ''));
  }
  return parts.join(' \u00b7 ');
}

// Draws marks over the time line. `hovered`: {token, path, answer}; `pinned`: the answer that was clicked.
class Marks {
  constructor(canvas, line) {
    this.canvas = canvas;
    this.line = line;
    this.hovered = {};
    this.pinned = null;
  }
  draw(model, tree, axis, confidence) {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const context = sizedContext(this.canvas, box.width, box.height);
    const offset = tree.canvas.getBoundingClientRect().top - box.top;
    const {token, path: id, answer = this.pinned} = this.hovered;
    context.fillStyle = theme.get('--mark');
    for (const path of model.paths.values()) {
      const marked = path.id === id || (answer !== null && answer !== undefined && path.answer === answer);
      const y = marked ? tree.yOf(path.id) : null;
      const row = Math.max(tree.rowHeight(), path.id === id ? 3 : 0);
      if (y !== null) context.fillRect(axis.left, offset + y - row / 2, box.width - axis.left - axis.right, row);
    }
    if (Number.isFinite(token)) {
      const x = axis.x(token, box.width);
      context.strokeStyle = theme.get('--ink');
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(x, offset);
      context.lineTo(x, box.height);
      context.stroke();
      context.setLineDash([]);
    }
    if (model.paths.has(id)) this.drawCurve(context, model.paths.get(id), confidence, box, axis);
    this.line.textContent = readout(model, this.hovered) || ' ';
  }
  // The window means of the path that the pointer is on, over those of the others.
  drawCurve(context, path, plot, box, axis) {
    if (!plot || path.points.length === 0) return;
    const over = plot.over.getBoundingClientRect();
    context.save();
    context.beginPath();
    context.rect(over.left - box.left, over.top - box.top, over.width, over.height);
    context.clip();
    context.strokeStyle = theme.get('--mark-line');
    context.lineWidth = 3;
    context.beginPath();
    for (const [position, mean] of path.points) {
      context.lineTo(axis.x(position, box.width), over.top - box.top + plot.valToPos(mean, 'y'));
    }
    context.stroke();
    context.restore();
  }
}
