// Ballots as bars, one row a rule, and the recorded vote with changes.
'use strict';

const ANSWER_COLOURS = ['--v0', '--v1', '--v2', '--v3', '--v4'];
const MOST_SEGMENTS = 5;

// The colour of an answer, the same under every rule: by the paths that gave it, the winner's first.
function answerColours(model) {
  const winner = model.result ? model.result.answer : null;
  const order = model.answers().map(([answer]) => answer).sort((a, b) => (b === winner) - (a === winner));
  return (answer) => ANSWER_COLOURS[order.indexOf(answer)] || '--other';
}

// Shares as one bar. `on`: {hover(answer), pin(answer)} makes its parts buttons.
function shareBar(scores, colour, on) {
  const bar = make('div', undefined, {class: 'shares'});
  for (const {answer, share, paths} of scores.slice(0, MOST_SEGMENTS)) {
    const percent = (100 * share).toFixed(1);
    const words = `${answer}: ${percent} %, ${counted(paths, 'path')}`;
    const part = make(on ? 'button' : 'span', share > 0.08 ? answer : '', {
      title: words, 'aria-label': words, style: `width:${percent}%;background:var(${colour(answer)})`});
    if (on) {
      part.type = 'button';
      part.addEventListener('click', () => on.pin(answer));
      part.addEventListener('pointerenter', () => on.hover(answer));
      part.addEventListener('pointerleave', () => on.hover(null));
    }
    bar.append(part);
  }
  return bar;
}

// Before the end the number of paths for each answer, then the outcome under every rule.
function drawBallot(table, model, on) {
  const colour = answerColours(model);
  const rows = [];
  if (model.votes()) {
    rows.push(tableRow(['rule', 'winner', 'share of the vote'], 'th'));
    const winner = model.result.answer;
    for (const [rule, vote] of Object.entries(model.votes())) {
      const picks = rule === model.result.vote_rule;
      const differs = vote.answer !== winner;
      const row = tableRow([rule + (picks ? ' (picks)' : ''),
                            (differs ? '\u2260 ' : '') + (vote.answer === null ? 'none' : vote.answer),
                            shareBar(vote.scores, colour, on)]);
      row.classList.toggle('differs', differs);
      row.classList.toggle('picks', picks);
      if (differs) row.title = 'This rule would have chosen another answer.';
      rows.push(row);
    }
  } else {
    rows.push(tableRow(['answer so far', 'paths', ''], 'th'));
    const answers = model.answers();
    const total = answers.reduce((sum, [, count]) => sum + count, 0);
    answers.slice(0, 12).forEach(([answer, count]) => rows.push(tableRow([answer, String(count),
        shareBar([{answer, share: count / total, paths: count}], colour, on)])));
  }
  fill(table.tBodies[0], rows);
}

// The form of the what-if as the run was recorded.
function resetWhatIf(model, on) {
  const usable = model.result !== null && canRecount(model);
  $('what-if').hidden = model.result === null || !model.votes();
  $('what-if-form').hidden = !usable;
  if (!usable) {
    $('what-if-outcome').textContent =
        'This method chose its voters in its own way; only its recorded votes are known.';
    return;
  }
  const rules = Object.keys(model.votes()).filter((rule) => !WEIGHT_RULES.includes(rule));
  fill($('what-rule'), rules.map((rule) => make('option', rule, {value: rule})));
  $('what-rule').value = rules.includes(model.result.vote_rule) ? model.result.vote_rule : 'majority';
  const lows = [...model.paths.values()].map((path) => path.lowestWindow).filter(Number.isFinite);
  const has = model.threshold !== null && lows.length > 0;
  $('what-threshold').disabled = !has;
  if (has) {
    const most = Math.max(model.threshold, ...lows);
    Object.assign($('what-threshold'), {min: 0, max: (1.05 * most).toFixed(2), step: 0.01});
    $('what-threshold').value = model.threshold;
  }
  Object.assign($('what-paths'), {min: 1, max: Math.max(1, model.poolSize())});
  $('what-paths').value = model.poolSize();
  drawWhatIf(model, on);
}

// What the form asks for. A slider that was not moved asks for what was recorded.
function whatIfChange(model) {
  const threshold = Number($('what-threshold').value);
  const moved = model.threshold !== null && Math.abs(threshold - model.threshold) > 0.011;
  return {rule: $('what-rule').value, threshold: moved ? threshold : undefined,
          paths: Number($('what-paths').value)};
}

function drawWhatIf(model, on) {
  const change = whatIfChange(model);
  const outcome = whatIf(model, change);
  const first = outcome.votes[0];
  const answer = first ? first.answer : 'no answer';
  const threshold = change.threshold === undefined ? model.threshold : change.threshold;
  $('what-threshold-value').textContent = threshold === null ? 'none' : threshold.toFixed(2);
  $('what-paths-value').textContent = `${change.paths} of ${model.poolSize()}`;
  const same = answer === model.result.answer;
  const parts = [same ? `Still ${answer}` : `${answer} instead of ${model.result.answer}`,
                 counted(outcome.voters, 'voter')];
  if (outcome.saved > 0) parts.push(`${counted(outcome.saved, 'token')} fewer`);
  if (outcome.unknown > 0) {
    parts.push(`${counted(outcome.unknown, 'pruned path')} would have gone on, to an answer that nobody knows`);
  }
  const settled = settledFrom(model, change);
  if (settled !== null) parts.push(`the same answer from ${counted(settled, 'path')} of the pool on`);
  $('what-if-outcome').textContent = `${parts.join('; ')}.`;
  $('what-if-outcome').classList.toggle('differs', !same);
  fill($('what-if-bar'), [shareBar(outcome.votes, answerColours(model), on)]);
}
