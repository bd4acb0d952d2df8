// A run as the page knows it: built from records (docs/json.md), whether they come from a live
// stream, a stored run or a trace file. Draws nothing.
'use strict';

const ACTIONS = ['none', 'single_token', 'multi_token', 'branch'];
const MOST_POINTS = 256;  // of one confidence curve; beyond, neighbours are averaged

// Means over buckets of tokens; the buckets grow so that a curve never has more than MOST_POINTS.
class Curve {
  constructor() { this.size = 1; this.means = []; this.sum = 0; this.count = 0; }
  push(value) {
    if (value === null || !Number.isFinite(value)) return;
    this.sum += value;
    if (++this.count < this.size) return;
    this.means.push(this.sum / this.count);
    this.sum = this.count = 0;
    if (this.means.length >= MOST_POINTS) this.widen();
  }
  widen() {
    const half = [];
    for (let i = 0; i + 1 < this.means.length; i += 2) half.push((this.means[i] + this.means[i + 1]) / 2);
    this.means = half;
    this.size *= 2;
  }
}

class Path {
  constructor(record) {
    this.id = record.path;
    this.parent = record.parent;
    this.start = record.position;
    this.length = record.position;
    this.warmup = record.warmup;
    this.kind = record.kind || 'reasoning';
    this.status = 'running';
    this.answer = null;
    this.reason = null;
    this.confidence = null;    // mean over the path
    this.lowestWindow = null;  // of the window means
    this.tokens = [];      // own ones: {token, text, logprob, confidence, entropy, routes}
    this.curve = new Curve();
    this.points = [];      // [position, window mean] of every token, or of some
    this.refined = [];     // [from, to) in tokens; to is null while it lasts
  }
  take(record) {
    this.length = record.position + 1;
    this.tokens.push({token: record.token, text: record.text, logprob: record.logprob,
                      confidence: record.confidence, entropy: record.entropy, routes: record.routes});
    if (Number.isFinite(record.confidence)) this.curve.push(record.window_mean);
    this.point(record);
  }
  point({position, window_mean: mean}) { if (Number.isFinite(mean)) this.points.push([position, mean]); }
  // The last window mean that is known up to a position; null: none is.
  meanAt(position) {
    let [low, high] = [0, this.points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.points[middle][0] <= position) low = middle + 1;
      else high = middle;
    }
    return low > 0 && position < this.length ? this.points[low - 1][1] : null;
  }
}

class RunModel {
  constructor() {
    this.head = null;
    this.paths = new Map();
    this.decisions = [];
    this.threshold = null;
    this.notices = [];
    this.result = null;
    this.longest = 0;
    this.records = [];  // all, for sharing and replay
  }

  take(record) {
    this.records.push(record);
    switch (record.record) {
      case 'run': this.head = record; break;
      case 'path': this.paths.set(record.path, new Path(record)); break;
      case 'token': {
        const path = this.paths.get(record.path);
        if (!path) break;
        path.take(record);
        this.longest = Math.max(this.longest, path.length);
        break;
      }
      case 'curve': {
        const path = this.paths.get(record.path);
        if (!path) break;
        path.length = Math.max(path.length, record.position + 1);
        path.point(record);
        this.longest = Math.max(this.longest, path.length);
        break;
      }
      case 'warmup': this.threshold = record.threshold; break;
      case 'decision':
        // An action that could do nothing counts as none.
        this.decisions.push(record.acted === false ? {...record, action: 'none'} : record);
        break;
      case 'refine': this.refine(record); break;
      case 'finish': this.finish(record); break;
      case 'notice': this.notices.push(record.text); break;
      case 'stop': {
        const how = record.basis === 'sure' ? 'for sure' :
            record.posterior < 1 ? `at ${Math.floor(1000 * record.posterior) / 1000}` : 'in every draw';
        this.notices.push(`decided ${how}; ` +
            `${record.cancelled + record.unopened} of ${record.paths} paths cancelled`);
        break;
      }
      case 'error': this.notices.push(record.message); break;
      case 'result': this.result = record; break;
    }
  }

  refine(record) {
    const path = this.paths.get(record.path);
    if (!path) return;
    const last = path.refined[path.refined.length - 1];
    if (last && last[1] === null) last[1] = record.position;
    if (record.routes > 1) path.refined.push([record.position, null]);
  }

  finish(record) {
    const path = this.paths.get(record.path);
    if (!path) return;
    path.status = record.status;
    path.answer = record.answer;
    path.reason = record.reason;
    path.tentative = record.tentative;
    path.confidence = record.mean_confidence;
    path.lowestWindow = record.lowest_window;
    path.length = Math.max(path.length, record.tokens);
    path.kept = record.kept;
    this.longest = Math.max(this.longest, path.length);
    const last = path.refined[path.refined.length - 1];
    if (last && last[1] === null) last[1] = path.length;
  }

  // No more records come: a run without a result was cut off, and with it what ran.
  close() {
    if (this.result) return;
    for (const path of this.paths.values()) {
      if (path.status === 'running') path.status = 'cancelled';
    }
  }

  // Those of the ledger once it is there; before, what the paths have by themselves.
  tokens() {
    if (this.result && this.result.ledger) return this.result.ledger.generated;
    let sum = 0;
    for (const path of this.paths.values()) sum += path.length - path.start;
    return sum;
  }

  // The path whose text is the reply, by the rule of src/report/winner.cc; null: there is none.
  winner() {
    if (!this.result) return null;
    const rank = (path) => [path.answer !== null && path.answer === this.result.answer, !path.tentative,
                            path.status === 'finished', path.confidence || 0];
    const above = (a, b) => {
      const at = a.findIndex((value, i) => value !== b[i]);
      return at >= 0 && a[at] > b[at];
    };
    let best = null;
    for (const path of this.paths.values()) {
      if (path.status === 'merged' || path.length === 0) continue;
      if (best === null || above(rank(path), rank(best))) best = path;
    }
    return best && best.id;
  }

  options() { return (this.head && this.head.options) || (this.result && this.result.options) || {}; }

  // By rule; null: there is none (yet).
  votes() { return (this.result && this.result.votes) || null; }

  // Paths of the pool that were opened from the prompt on; warm-up comes before.
  poolSize() { return [...this.paths.values()].filter((path) => path.parent === null && !path.warmup).length; }

  // Paths that are written at a position, of all that are known.
  runningAt(position) {
    return [...this.paths.values()].filter((path) => path.start <= position && position < path.length).length;
  }

  // The decision of the interval that a position lies in; undefined: there is none.
  decisionAt(position) {
    const interval = this.options().interval || 1;
    return this.decisions.findLast((one) => one.position <= position && position < one.position + interval);
  }

  running() {
    let count = 0;
    for (const path of this.paths.values()) count += path.status === 'running' ? 1 : 0;
    return count;
  }

  // Own tokens of a path behind those it inherited, from the prompt on.
  tokensOf(id) {
    const path = this.paths.get(id);
    if (!path) return [];
    const parent = path.parent === null ? [] : this.tokensOf(path.parent).slice(0, path.start);
    return parent.concat(path.tokens);
  }

  // Answers so far by the number of paths that gave them, most first.
  answers() {
    const counts = new Map();
    for (const path of this.paths.values()) {
      if (path.answer !== null && path.status !== 'merged') {
        counts.set(path.answer, (counts.get(path.answer) || 0) + 1);
      }
    }
    return [...counts].sort((a, b) => b[1] - a[1]);
  }

  actionCounts() {
    const counts = new Map(ACTIONS.map((name) => [name, 0]));
    for (const decision of this.decisions) counts.set(decision.action, counts.get(decision.action) + 1);
    return counts;
  }

  // Why decisions were cut short or did nothing: [reason, decisions], most first.
  notes() {
    const counts = new Map();
    for (const {note} of this.decisions) if (note) counts.set(note, (counts.get(note) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }
}
