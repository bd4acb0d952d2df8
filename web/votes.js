// Votes over the recorded paths of a run, counted again: by every rule, with another threshold, with fewer
// paths. Nothing is generated. Pure; draws nothing.
'use strict';

const MOST_CONFIDENCE = 60;  // nats, as in src/core/confidence.h
const MOST_COUNTED = 1024;
const WEIGHT_RULES = ['weighted', 'best', 'borda'];  // they need scores that only the method has

const ratio = (value, whole) => whole > 0 ? value / whole : 0;
const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);
const isSound = (value) => Number.isFinite(value) && value >= 0 && value <= MOST_CONFIDENCE;

// Too large ones count as the largest sound one, missing ones as 0.
function clip(values) {
  const most = largest(values.filter(isSound));
  return values.map((value) => isSound(value) ? value : value > MOST_CONFIDENCE ? most : 0);
}

// What a path adds to the score of its answer under `rule`; src/core/vote.cc says from which equations.
function voteTerms(paths, rule, options) {
  const lengths = paths.map((path) => path.length);
  const means = clip(paths.map((path) => path.confidence));
  const length = lengths.reduce((sum, value) => sum + value, 0);
  const most = largest(means);
  const linear = (i) => options['lambda-length'] * ratio(lengths[i], length) +
      options['lambda-confidence'] * ratio(means[i], most);
  const windows = clip(paths.map((path) => path.lowestWindow));
  const term = {
    majority: () => 1,
    confidence: (i) => means[i],
    length: (i) => ratio(lengths[i], length),
    deepconf: (i) => windows[i],
    length_confidence: linear,
    importance_sampling: (i) => Math.exp(linear(i)),
    cisc: (i) => Math.exp((means[i] - most) / options['vote-temperature']),
  }[rule];
  return paths.map((_, i) => term(i));
}

// The votes of `paths`: [{answer, score, share, paths, candidate}], the winner first.
//   group  from a path's answer to the spelling that stands for all that equal it
function countVotes(paths, rule, options, group = (answer) => answer) {
  const means = clip(paths.map((path) => path.confidence));
  const terms = voteTerms(paths, rule, options);
  const scores = new Map();
  paths.forEach((path, i) => {
    const answer = group(path.answer);
    const one = scores.get(answer) || {answer, score: 0, paths: 0, confidence: 0, candidate: true};
    one.score += terms[i];
    one.paths++;
    one.confidence += means[i];
    scores.set(answer, one);
  });
  const list = [...scores.values()];
  if (rule === 'length_confidence') {  // only the K_a most frequent answers may win
    const least = list.map((one) => one.paths).sort((a, b) => b - a)[Math.max(options['vote-top'], 1) - 1] || 0;
    list.forEach((one) => { one.candidate = one.paths >= least; });
  }
  const total = list.reduce((sum, one) => sum + one.score, 0);
  list.forEach((one) => { one.share = ratio(one.score, total); });
  return list.sort((a, b) => b.candidate - a.candidate || b.score - a.score || b.paths - a.paths ||
      b.confidence - a.confidence || (a.answer < b.answer ? -1 : 1));
}

// The paths that vote, by the rule of most methods (Method::Votes, HyperMethod::Votes).
function votersOf(model) {
  const options = model.options();
  const votes = (path) => path.answer !== null && path.kind === 'reasoning' &&
      !['merged', 'failed', 'running'].includes(path.status) &&
      (!path.tentative || options['vote-tentative'] !== false);
  const isClone = (path) => path.parent !== null && path.length - path.start < options.interval &&
      votes(path) && votes(model.paths.get(path.parent));
  const own = model.head && model.head.method === 'hyper';
  return [...model.paths.values()].filter((path) => votes(path) &&
      (!own || ((options['vote-warmup'] !== false || !path.warmup) &&
                (options['vote-clones'] !== false || !isClone(path)))));
}

// Which spelling stands for an answer: paths may spell equal ones differently, and the recorded votes name
// one of each. An answer that no vote names is told by the names that are left over, where only one is.
function spellingOf(model) {
  const recorded = model.votes();
  if (!recorded) return (answer) => answer;
  const names = new Set(Object.values(recorded)[0].scores.map((score) => score.answer));
  const given = new Set(votersOf(model).map((path) => path.answer));
  const alone = [...names].filter((name) => !given.has(name));
  return (answer) => names.has(answer) || alone.length !== 1 ? answer : alone[0];
}

// Whether the recorded vote comes out when it is counted here. Methods that choose their voters in their
// own way do not pass, nor votes over answers that are equal in value but not in spelling.
function canRecount(model) {
  const recorded = model.votes();
  if (!recorded || !recorded.majority) return false;
  const voters = votersOf(model);
  return Object.entries(recorded).filter(([rule]) => !WEIGHT_RULES.includes(rule)).every(([rule, vote]) => {
    const counted = countVotes(voters, rule, model.options(), spellingOf(model));
    return counted.length === vote.scores.length && counted.every((one, i) =>
        one.answer === vote.scores[i].answer && one.paths === vote.scores[i].paths &&
        Math.abs(one.share - vote.scores[i].share) < 1e-6);
  });
}

// The first of a path's own positions at which its window mean is below `threshold`; null: none is known.
function cutAt(path, threshold, window) {
  const at = path.points.find(([position, mean]) => position + 1 >= window && mean < threshold);
  return at ? at[0] : null;
}

// The run as it would have been with another rule, threshold or number of paths. Paths that were pruned go
// on where the threshold is lower, and nobody knows what they would have said.
//   change  {rule, threshold, paths}, each as recorded where it is undefined
// Returns {votes, voters, lost (voters that would have been pruned), unknown (paths that would have gone
// on), saved (tokens)}.
function whatIf(model, change) {
  const options = model.options();
  const rule = change.rule || model.result.vote_rule;
  const threshold = change.threshold === undefined ? model.threshold : change.threshold;
  const [same, lower] = [threshold === model.threshold, threshold === null || threshold < model.threshold];
  const gone = new Map();  // path -> its position from which on it does not exist
  let unknown = 0, saved = 0, pooled = 0;
  const drop = (path, from) => {
    gone.set(path.id, from);
    saved += path.length - from;
  };
  for (const path of model.paths.values()) {
    const parentGone = gone.get(path.parent);
    if (path.parent === null && !path.warmup) pooled++;
    if ((parentGone !== undefined && parentGone <= path.start) ||
        (path.parent === null && !path.warmup && pooled > change.paths)) {
      drop(path, path.start);
    } else if (same || path.warmup) {
      continue;
    } else if (path.status === 'pruned' && lower && (threshold === null || path.lowestWindow >= threshold)) {
      unknown++;
    } else if (!lower && path.lowestWindow < threshold) {
      const at = cutAt(path, threshold, options.window || 1);
      drop(path, at === null ? path.length : at + 1);
    }
  }
  const recorded = votersOf(model);
  const voters = recorded.filter((path) => !gone.has(path.id));
  return {votes: countVotes(voters, rule, options, spellingOf(model)), voters: voters.length,
          lost: recorded.length - voters.length, unknown, saved};
}

// From how many paths of the pool on the answer stays what it is with all of them; null: there is no vote, or
// too many paths to count once for each number of them.
function settledFrom(model, change) {
  const total = model.poolSize();
  if (total > MOST_COUNTED) return null;
  let from = null, last;
  for (let paths = total; paths >= 1; paths--) {
    const {votes} = whatIf(model, {...change, paths});
    const answer = votes.length ? votes[0].answer : null;
    if (last === undefined) last = answer;
    if (answer === null || answer !== last) break;
    from = paths;
  }
  return from;
}
