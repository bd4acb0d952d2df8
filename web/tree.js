// The tree of paths on the time axis: a line a path, forks, ends by sign, and the decisions above. Equal
// answers stand together in clusters, so that 512 paths fit on a screen.
'use strict';

const MOST_TREE_PX = 380;  // of height of all rows
const MANY_PATHS = 40;     // from here on equal answers stand together, unless asked otherwise
const SIGN_PX = 6;         // height of a row from which on its end has a sign
const STRIP_PX = 22;       // of the decisions, above the rows
const TICKS_PX = 18;       // of the time axis, below them

class TreeView {
  // `on`: {select(id), hover({path, token}), zoom(from, to), move(tokens, factor)}; nothing: it is only looked at.
  constructor(canvas, axis, on) {
    this.canvas = canvas;
    this.axis = axis;
    this.selected = null;
    this.orderBy = '';  // family, answer or confidence; empty: by the number of paths
    this.rows = [];
    this.groups = [];
    this.top = 0;
    if (on) this.listen(on);
  }

  listen(on) {
    const canvas = this.canvas;
    let pressed = null;
    canvas.addEventListener('pointerdown', (event) => { pressed = event.offsetX; });
    canvas.addEventListener('pointerup', (event) => {
      const from = pressed === null ? event.offsetX : pressed;
      pressed = null;
      if (Math.abs(event.offsetX - from) > 8) {
        on.zoom(this.axis.tokenAt(from, canvas.clientWidth), this.axis.tokenAt(event.offsetX, canvas.clientWidth));
      } else if (this.pathAt(event.offsetY) !== null) {
        on.select(this.pathAt(event.offsetY));
      }
    });
    canvas.addEventListener('dblclick', () => on.zoom(null));
    canvas.addEventListener('pointermove', (event) => on.hover(
        {path: this.pathAt(event.offsetY), token: this.axis.tokenAt(event.offsetX, canvas.clientWidth)}));
    canvas.addEventListener('pointerleave', () => on.hover(null));
    canvas.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9}[event.key];
      const move = {ArrowLeft: [-1], ArrowRight: [1], '+': [0, 0.5], '-': [0, 2], 0: [0, 1e9]}[event.key];
      if ((!step && !move) || this.rows.length === 0 || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (move) {
        on.move(...move);
        return;
      }
      const at = this.rows.indexOf(this.selected);
      on.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, at + step))]);
    });
  }

  rowHeight() { return Math.min(14, MOST_TREE_PX / Math.max(1, this.rows.length)); }

  pathAt(y) {
    const row = Math.floor((y - this.top) / this.rowHeight());
    return y >= this.top && this.rows[row] !== undefined ? this.rows[row] : null;
  }

  // The middle of a path's row; null: it has none.
  yOf(id) {
    const row = this.places.get(id);
    return row === undefined ? null : this.top + (row + 0.5) * this.rowHeight();
  }

  order(model) {
    const by = this.orderBy || (model.paths.size > MANY_PATHS ? 'answer' : 'family');
    this.groups = [];
    if (by === 'family') return this.byFamily(model);
    const surer = (a, b) => (b.confidence || 0) - (a.confidence || 0) || a.id - b.id;
    const paths = [...model.paths.values()].sort(surer);
    return by === 'answer' ? this.byAnswer(model, paths) : paths.map((path) => path.id);
  }

  // Equal answers together, the most frequent first; then paths without one by how they ended.
  byAnswer(model, paths) {
    const rows = [];
    const add = (members, label, answer) => {
      if (members.length === 0) return;
      this.groups.push({first: rows.length, count: members.length, label, answer});
      members.forEach((path) => rows.push(path.id));
    };
    for (const [answer, count] of model.answers()) {
      add(paths.filter((path) => path.answer === answer && path.status !== 'merged'),
          `${answer} \u00d7 ${count}`, answer);
    }
    const rest = paths.filter((path) => path.answer === null || path.status === 'merged');
    for (const [status, [name, , sign]] of Object.entries(STATUSES)) {
      const ended = status === 'finished' || status === 'length';
      if (status === 'length') continue;
      const members = rest.filter((path) =>
          path.status === status || (ended && path.status === 'length'));
      add(members, ended ? 'none' : `${sign} ${name.split(' ')[0]} \u00d7 ${members.length}`, null);
    }
    return rows;
  }

  // A family stays together: children come right after their parent.
  byFamily(model) {
    const children = new Map();
    for (const path of model.paths.values()) {
      children.set(path.parent, [...(children.get(path.parent) || []), path.id]);
    }
    const rows = [];
    const add = (id) => { rows.push(id); (children.get(id) || []).forEach(add); };
    (children.get(null) || []).forEach(add);
    return rows;
  }

  draw(model) {
    this.rows = this.order(model);
    this.places = new Map(this.rows.map((id, row) => [id, row]));
    this.top = model.decisions.length ? STRIP_PX : 4;
    const width = this.canvas.parentElement.clientWidth;
    const below = this.top + Math.max(1, this.rows.length) * this.rowHeight();
    this.height = below + TICKS_PX;
    const context = sizedContext(this.canvas, width, this.height);
    const [from, to] = this.axis.range(model);
    const x = (token) => this.axis.x(token, width);
    context.font = '11px system-ui, sans-serif';
    this.drawAxis(context, ticksBetween(from, to, Math.max(3, width / 90)), x, below);
    this.drawGroups(context, width, model);
    context.save();
    context.beginPath();
    context.rect(x(from) - 6, 0, x(to) - x(from) + 16, below);
    context.clip();
    this.drawDecisions(context, model, x, below);
    this.rows.forEach((id) => this.drawPath(context, model.paths.get(id), x));
    context.restore();
    if (this.groups.length === 0 && this.rowHeight() > 9) this.drawNames(context, model);
  }

  drawAxis(context, ticks, x, below) {
    context.strokeStyle = theme.get('--line');
    context.fillStyle = theme.get('--soft');
    context.textAlign = 'center';
    context.lineWidth = 0.5;
    for (const tick of ticks) {
      context.beginPath();
      context.moveTo(x(tick), this.top);
      context.lineTo(x(tick), below + 3);
      context.stroke();
      context.fillText(String(tick), x(tick), below + 14);
    }
  }

  // Lines between the clusters, and their labels in the margin; those that are too low for one share it.
  drawGroups(context, width, model) {
    const height = this.rowHeight();
    const winner = model.result ? model.result.answer : null;
    let low = [];
    const flush = () => {
      const count = low.reduce((sum, group) => sum + group.count, 0);
      if (count * height >= 9) {
        this.drawLabel(context, low.length === 1 ? low[0].label : `${low.length} others \u00d7 ${count}`,
                       this.top + (low[0].first + count / 2) * height + 4, false);
      }
      low = [];
    };
    context.strokeStyle = theme.get('--line');
    context.lineWidth = 1;
    for (const group of this.groups) {
      const [top, high] = [this.top + group.first * height, group.count * height];
      context.beginPath();
      context.moveTo(0, top);
      context.lineTo(width, top);
      if (high >= 9 || low.length === 0) context.stroke();
      if (high < 9) {
        low.push(group);
        continue;
      }
      flush();
      this.drawLabel(context, group.label, top + Math.min(high / 2 + 4, 60),
                     group.answer !== null && group.answer === winner);
    }
    flush();
  }

  drawLabel(context, label, y, strong) {
    const room = Math.floor((this.axis.left - 8) / 6.3);
    context.fillStyle = theme.get(strong ? '--ink' : '--soft');
    context.font = `${strong ? 'bold ' : ''}11px system-ui, sans-serif`;
    context.textAlign = 'right';
    context.fillText(label.length > room ? `${label.slice(0, room - 1)}\u2026` : label, this.axis.left - 8, y);
    context.font = '11px system-ui, sans-serif';
  }

  // The answers beside the rows, where each has a row of its own.
  drawNames(context, model) {
    for (const id of this.rows) {
      const path = model.paths.get(id);
      const wins = model.result !== null && path.answer !== null && path.answer === model.result.answer;
      this.drawLabel(context, path.answer === null ? `path ${id}` : path.answer, this.yOf(id) + 4,
                     wins || id === this.selected);
    }
  }

  // A sign at the top for each decision, and a line through the tree where it changed the pool.
  drawDecisions(context, model, x, below) {
    context.textAlign = 'center';
    for (const {action, position} of model.decisions) {
      const [, colour, sign] = ACTION_SIGNS[action];
      context.fillStyle = theme.get(colour);
      context.fillText(sign, x(position), 14);
      if (action === 'none') continue;
      context.strokeStyle = theme.get(colour);
      context.globalAlpha = 0.45;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x(position), STRIP_PX - 4);
      context.lineTo(x(position), below);
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  drawPath(context, path, x) {
    const y = this.yOf(path.id);
    const [, colour, sign] = statusOf(path);
    const bar = (from, to, name, thickness) => {
      context.fillStyle = theme.get(name);
      context.fillRect(x(from), y - thickness / 2, Math.max(x(to) - x(from), 1), thickness);
    };
    const across = (token, to, name, dash) => {
      if (to === null) return;
      context.strokeStyle = theme.get(name);
      context.lineWidth = 1;
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(x(token), y);
      context.lineTo(x(token), to);
      context.stroke();
      context.setLineDash([]);
    };
    const height = this.rowHeight();
    const thick = Math.min(2.5, 0.8 * height);
    context.globalAlpha = this.groups.length > 0 && path.id !== this.selected ? 0.15 : 1;
    if (path.parent !== null) across(path.start, this.yOf(path.parent), '--soft', []);
    if (path.status === 'merged') across(path.length, this.yOf(path.kept), '--merged', [2, 2]);
    context.globalAlpha = 1;
    if (path.id === this.selected) bar(path.start, path.length, '--mark', Math.max(height, 5));
    bar(path.start, path.length, colour, path.id === this.selected ? Math.max(thick, 2) : thick);
    for (const [from, to] of path.refined) bar(from, to === null ? path.length : to, '--refined', 2 * thick);
    if (height < SIGN_PX) return;
    context.fillStyle = theme.get(colour);
    context.textAlign = 'center';
    context.font = `${Math.min(12, height + 1)}px system-ui, sans-serif`;
    context.fillText(sign, x(path.length) + 4, y + Math.min(4, height / 3));
    context.font = '11px system-ui, sans-serif';
  }
}
