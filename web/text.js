// The text of a path: its answer as it is meant to be read, and every token with how sure the model was.
'use strict';

const MOST_ALTERNATIVES = 5;
const NATS = ['alternatives', 'topk', 'self-certainty'];  // confidences from 0 to 60, hardly above 20

// How unsure a token is on a scale that is the same for all runs: 0 to 1. Its ends in words.
const HEATS = {
  probability: {unsure: (token) => 1 - Math.exp(token.logprob), ends: ['probability 0', '1']},
  confidence: {unsure: (token, most) => 1 - Math.min(token.confidence / most, 1), ends: ['confidence 0', '20']},
  entropy: {unsure: (token) => Math.min(token.entropy / 2, 1), ends: ['entropy 2 nats or more', '0']},
};

const mostConfidence = (model) => NATS.includes(model.options().confidence || 'alternatives') ? 20 : 1;

// The state of one path's text that is shown; made anew with each drawing.
let tokenNeighbours = null;

function pathFacts(path) {
  const [status, , sign] = statusOf(path);
  return [`${sign} ${status}${path.reason ? `: ${path.reason}` : ''}`, `${path.length} tokens`,
          path.answer !== null ? `answer ${path.answer}` : 'no answer',
          path.parent !== null ? `forked from path ${path.parent} at token ${path.start}` : '',
          path.warmup ? 'warm-up' : ''].filter(Boolean).join(' \u00b7 ');
}

function tokenSpan(token, i, heat, most) {
  const unsure = heat ? heat.unsure(token, most) : 0;
  const colour = Number.isFinite(unsure) && unsure > 0.01 ? `rgba(220,60,40,${(0.75 * unsure).toFixed(2)})` : '';
  const span = make('span', token.text, {'data-token': i});
  if (colour) span.style.background = colour;
  if (token.routes > 1) span.className = 'refined';
  return span;
}

function drawText(model, id, heatName) {
  const path = model.paths.get(id);
  tokenNeighbours = null;
  $('facts').textContent = path ? pathFacts(path) : '';
  $('reply').hidden = true;
  drawScale(model, heatName);
  if (!path) { fill($('text'), []); return; }
  const tokens = model.tokensOf(id);
  const stored = model.result && model.result.paths && model.result.paths.find((one) => one.id === id);
  const text = tokens.length ? tokens.map((token) => token.text).join('') : stored ? stored.text : '';
  const opened = /<think>\s*$/.test((model.head && model.head.prompt) || '');
  const parts = textParts(text, opened);
  if (parts.answer.trim() !== '' && path.status !== 'running') {
    $('reply').hidden = false;
    fill($('reply'), markdown(parts.answer.replace(/<\|[a-z_]+\|>\s*$/, '')));
  }
  if (text === '') {
    $('text').textContent = model.result ? '' : 'The text comes at the end: this run records no tokens.';
    return;
  }
  const block = (title, children) => around('div', [make('h3', title), around('pre', children)]);
  const heat = HEATS[heatName];
  const most = mostConfidence(model);
  const blocks = [];
  if (!heat) {
    blocks.push(around('div', markdown(parts.reasoning), {class: 'rendered'}));
  } else if (tokens.length === 0) {
    if (parts.at > 0) blocks.push(block('Reasoning', [text.slice(0, parts.at)]));
    if (parts.answer) blocks.push(block('Answer', [parts.answer]));
  } else {
    const spans = [[], []];
    let at = 0;
    tokens.forEach((token, i) => {
      spans[at < parts.at ? 0 : 1].push(tokenSpan(token, i, heat, most));
      at += token.text.length;
    });
    if (spans[0].length) blocks.push(block('Reasoning, token by token', spans[0]));
    if (spans[1].length) blocks.push(block('Answer, token by token', spans[1]));
  }
  fill($('text'), blocks);
}

// The colours between two ends, in words.
function drawScale(model, heatName) {
  const heat = HEATS[heatName];
  $('scale').hidden = !heat;
  if (!heat) return;
  const [unsure, sure] = heat.ends;
  fill($('scale'), [make('span', unsure), make('i', '', {'aria-hidden': 'true'}),
                    make('span', heatName === 'confidence' ? `${mostConfidence(model)} or more` : sure)]);
}

const quoted = (text) => `\u201c${JSON.stringify(text).slice(1, -1).replaceAll(' ', '\u2423')}\u201d`;

// What is known of a token, as lines.
function tokenLines(model, id, i) {
  const token = model.tokensOf(id)[i];
  if (!token) return [];
  if (tokenNeighbours === null || tokenNeighbours.id !== id) tokenNeighbours = {id, at: sameTextBefore(model, id)};
  const fixed = (value) => Number.isFinite(value) ? value.toFixed(2) : '\u2013';
  const lines = [`${quoted(token.text)}, token ${i}`, token.routes === 0 ? 'given to the path, not generated' :
                 `probability ${fixed(100 * Math.exp(token.logprob))} %, confidence ${fixed(token.confidence)}, ` +
                 `entropy ${fixed(token.entropy)}${token.routes > 1 ? `, ${token.routes} routes` : ''}`];
  const written = tokenNeighbours.at(i);
  const paths = written.reduce((sum, [, count]) => sum + count, 0);
  if (paths > 1) {
    lines.push(`${paths} paths have the same text before. They go on with ` +
        joined(written.slice(0, MOST_ALTERNATIVES).map(([text, count]) => `${quoted(text)} (${count})`)) +
        (written.length > MOST_ALTERNATIVES ? ', and others' : '') + '.');
  }
  const probable = probableAt(model, id, i).slice(0, MOST_ALTERNATIVES);
  if (probable.length) {
    lines.push('Most probable here: ' +
        probable.map(([text, share]) => `${quoted(text)} ${fixed(100 * share)} %`).join(', '));
  }
  return lines;
}

// The box of a token under the pointer, or of the one that the keys are on.
function showToken(model, id, span) {
  const tip = $('tip');
  document.querySelectorAll('#text span.here').forEach((one) => one.classList.remove('here'));
  tip.hidden = !span;
  if (!span) return;
  span.classList.add('here');
  fill(tip, tokenLines(model, id, Number(span.dataset.token)).map((line) => make('p', line)));
  const [box, panel] = [span.getBoundingClientRect(), $('text').parentElement.getBoundingClientRect()];
  tip.style.left = `${Math.max(8, Math.min(box.left - panel.left, panel.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${box.bottom - panel.top + 6}px`;
}
