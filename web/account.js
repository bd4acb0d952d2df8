// What happened in a run, in plain sentences made from its records. Pure; draws nothing.
'use strict';

const STATUS_WORDS = {length: 'reached the limit of tokens', merged: 'merged into another',
                      degenerate: 'repeated themselves', failed: 'failed'};
const ACTION_WORDS = {single_token: 'refined the next token', multi_token: 'expanded several tokens',
                      branch: 'branched'};

const thousands = (count) => Math.round(count).toLocaleString('en');
const counted = (count, one, many) => `${thousands(count)} ${count === 1 ? one : many || `${one}s`}`;
const were = (count) => count === 1 ? 'was' : 'were';
const joined = (parts) => parts.length < 2 ? parts.join('') :
    `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;

// "at token 17", or "at tokens 27 to 44".
function atTokens(paths) {
  const ends = paths.map((path) => path.length);
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  return first === last ? `at token ${first}` : `at tokens ${first} to ${last}`;
}

function pathsSentence(model) {
  const paths = [...model.paths.values()];
  const warm = paths.filter((path) => path.warmup).length;
  const forks = paths.filter((path) => path.parent !== null).length;
  const parts = [[warm, `${warm} to warm up`], [model.poolSize(), `${model.poolSize()} in the pool`],
                 [forks, `${forks} forked from others`]].filter(([count]) => count > 0).map(([, text]) => text);
  return counted(paths.length, 'path') + (parts.length > 1 ? `: ${joined(parts)}.` : '.');
}

// What became of the paths that did not end by themselves.
function endSentences(model) {
  const paths = [...model.paths.values()];
  const of = (status) => paths.filter((path) => path.status === status);
  const lines = [];
  const pruned = of('pruned');
  if (pruned.length > 0) {
    const low = pruned.every((path) => /threshold/.test(path.reason || '')) && model.threshold !== null;
    lines.push(`${pruned.length} ${were(pruned.length)} pruned ${atTokens(pruned)}` +
        (low ? `: confidence fell below ${model.threshold.toFixed(2)}.` : '.'));
  }
  const cancelled = of('cancelled');
  if (cancelled.length > 0) {
    const decided = cancelled.every((path) => path.reason === 'decided');
    lines.push(`${cancelled.length} ${were(cancelled.length)} cancelled ${atTokens(cancelled)}` +
        (decided ? ', when the vote was decided.' : '.'));
  }
  for (const [status, words] of Object.entries(STATUS_WORDS)) {
    const count = of(status).length;
    if (count > 0) lines.push(`${count} ${count === 1 ? words.replace('themselves', 'itself') : words}.`);
  }
  return lines;
}

// The first position from which on the answer that is ahead at the end was alone in front, as paths ended
// along the time axis; at the end of the run several may be level. Null where there is one answer only.
function aheadFrom(voters) {
  const tally = new Map();
  const ends = [...voters].sort((a, b) => a.length - b.length || a.id - b.id);
  for (const path of ends) tally.set(path.answer, 0);
  if (tally.size < 2) return null;
  const leaders = () => {
    const most = Math.max(...tally.values());
    return [...tally].filter(([, votes]) => votes === most).map(([answer]) => answer);
  };
  let [from, leader, fought, first] = [null, null, false, true];
  ends.forEach((path, i) => {
    tally.set(path.answer, tally.get(path.answer) + 1);
    if (i + 1 < ends.length && ends[i + 1].length === path.length) return;  // all that end here count at once
    const now = leaders();
    const alone = now.length === 1 ? now[0] : null;
    if (alone !== leader) {
      fought = fought || !first;
      leader = alone;
      from = path.length;
    }
    first = false;
  });
  return leader === null ? {level: leaders()} : {answer: leader, from, fought};
}

function contestSentence(voters) {
  const ahead = aheadFrom(voters);
  if (!ahead) return null;
  const answers = new Set(voters.map((path) => path.answer)).size;
  const who = answers === 2 ? 'Two answers' : `${answers} answers`;
  if (ahead.level) return `${who} fought to the end; ${joined(ahead.level)} have equally many paths.`;
  return ahead.fought ? `${who} fought until token ${ahead.from}; from there on ${ahead.answer} led.` :
      `${ahead.answer} led from the first ended path, at token ${ahead.from}.`;
}

// "17 of 20 voters say 986, 2 say 12."
function voteSentence(model, voters) {
  const votes = model.votes();
  const scores = votes && votes[model.result.vote_rule] ? votes[model.result.vote_rule].scores : null;
  const counts = scores ? scores.map(({answer, paths}) => [answer, paths]) : model.answers();
  const total = counts.reduce((sum, [, paths]) => sum + paths, 0);
  if (total === 0) return model.result ? 'No path gave an answer.' : null;
  const say = (count) => count === 1 ? 'says' : 'say';
  const [[winner, first], ...others] = counts;
  const named = others.slice(0, 2).map(([answer, paths]) => `${paths} ${say(paths)} ${answer}`);
  const rest = others.slice(2).reduce((sum, [, paths]) => sum + paths, 0);
  if (rest > 0) named.push(`${rest} ${say(rest)} something else`);
  const soFar = model.result ? '' : 'So far ';
  return `${soFar}${first} of ${counted(total, model.result ? 'voter' : 'answer')} ${say(first)} ${winner}` +
      `${named.length ? `; ${joined(named)}` : ''}.`;
}

// Which rules would have chosen otherwise.
function rulesSentence(model) {
  const votes = Object.entries(model.votes() || {});
  const other = new Map();
  for (const [rule, {answer}] of votes) {
    if (answer !== model.result.answer) other.set(answer, [...(other.get(answer) || []), rule]);
  }
  if (votes.length < 2) return null;
  if (other.size === 0) return `All ${votes.length} vote rules choose it.`;
  return [...other].map(([answer, rules]) =>
      `${joined(rules)} would choose ${answer === null ? 'nothing' : answer} instead.`).join(' ');
}

function controllerSentence(model) {
  if (model.decisions.length === 0) return null;
  const acted = [...model.actionCounts()].filter(([name, count]) => name !== 'none' && count > 0);
  const decisions = counted(model.decisions.length, 'decision');
  if (acted.length === 0) return `The controller changed nothing in ${decisions}.`;
  const parts = acted.map(([name, count]) => `${ACTION_WORDS[name]} ${count === 1 ? 'once' : `${count} times`}`);
  return `In ${decisions} the controller ${joined(parts)}.`;
}

function costSentence(model) {
  const timing = model.result && model.result.timing;
  const seconds = timing && Number.isFinite(timing.wall_s) ? ` in ${timing.wall_s.toFixed(1)} s` : '';
  const saved = model.result && model.result.ledger ? model.result.ledger.saved : 0;
  return `${counted(model.tokens(), 'token')}${seconds}` +
      (saved > 0 ? `; the early decision saved about ${thousands(saved)}.` : '.');
}

// The sentences, in the order of what happened; none before the first path.
function account(model) {
  if (model.paths.size === 0) return [];
  if (model.paths.size === 1) return [costSentence(model)];
  const voters = votersOf(model);
  const running = model.running();
  return [pathsSentence(model), running > 0 ? `${thousands(running)} still running.` : null,
          ...endSentences(model), controllerSentence(model), contestSentence(voters),
          voteSentence(model, voters), rulesSentence(model), costSentence(model)].filter(Boolean);
}
