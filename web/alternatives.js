// What else could have stood where a token stands: what other paths wrote after the same text, and the most
// probable tokens where the run has recorded them. Pure; draws nothing.
'use strict';

// Of a path: at(i) gives [[text, paths], ...], most first, of the paths that have the same tokens before i.
function sameTextBefore(model, id) {
  const own = model.tokensOf(id);
  const others = [];
  for (const path of model.paths.values()) {
    const tokens = path.id === id ? own : model.tokensOf(path.id);
    let common = 0;
    while (common < Math.min(own.length, tokens.length) && own[common].text === tokens[common].text) common++;
    others.push({tokens, common});
  }
  return (i) => {
    const counts = new Map();
    for (const {tokens, common} of others) {
      if (common >= i && i < tokens.length) counts.set(tokens[i].text, (counts.get(tokens[i].text) || 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]);
  };
}

// The most probable tokens where a path's token i stands: [[text, probability], ...]; empty: not recorded.
// A decision looks at the token before its position. Texts are those of the run's own tokens.
function probableAt(model, id, i) {
  const decision = model.decisions.find(({position, readings}) => readings && position === i + 1);
  const reading = decision && decision.readings.find(({path}) => path === id);
  if (!reading) return [];
  const texts = new Map();
  for (const path of model.paths.values()) for (const {token, text} of path.tokens) texts.set(token, text);
  return reading.top.map(([token, logprob]) =>
      [texts.has(token) ? texts.get(token) : `#${token}`, Math.exp(logprob)]);
}

// A path's text: what it thinks, and what it answers. `opened`: the template opened the think tag.
function textParts(text, opened) {
  const close = text.indexOf('</think>');
  if (close >= 0) {
    const end = close + /^<\/think>\s*/.exec(text.slice(close))[0].length;
    return {reasoning: text.slice(0, close).replace(/^\s*<think>\s*/, ''), answer: text.slice(end), at: end};
  }
  const thinks = opened || /^\s*<think>/.test(text);
  return thinks ? {reasoning: text.replace(/^\s*<think>\s*/, ''), answer: '', at: text.length}
                : {reasoning: '', answer: text, at: 0};
}
