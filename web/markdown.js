// Markdown and LaTeX of a model's text as elements. Text stays text: no markup of the model is trusted.
// Formulas become MathML, by Temml where it is there.
'use strict';

const MATH = /\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|\\\((.+?)\\\)|\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)/;
const WHOLE = /^```.*\n?([\s\S]*?)^```\s*$|(\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\])/m;
const ITEM = /^\s*([-*]|\d+[.)]) /;
const HEADING = /^#{1,6} /;
const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|\*(?!\s)([^*\n]+?)(?<!\s)\*/;

// The end of the braces that open at `at`; -1: they do not close.
function closingBrace(text, at) {
  for (let depth = 0, i = at; i < text.length; i++) {
    if (text[i] === '{') depth++;
    if (text[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

// The first formula of a text: {from, to, tex, display}; null: there is none. A \boxed{...} is one too.
function findMath(text) {
  const match = MATH.exec(text);
  const boxed = text.indexOf('\\boxed{');
  const end = boxed < 0 ? -1 : closingBrace(text, boxed + '\\boxed'.length);
  if (end >= 0 && (!match || boxed < match.index)) {
    return {from: boxed, to: end + 1, tex: text.slice(boxed, end + 1), display: false};
  }
  if (!match) return null;
  return {from: match.index, to: match.index + match[0].length,
          tex: match[1] || match[2] || match[3] || match[4], display: Boolean(match[1] || match[2])};
}

function mathElement({tex, display}, source) {
  const element = make('span', undefined, {class: 'math', title: tex});
  try {
    temml.render(tex, element, {displayMode: display, throwOnError: true});
  } catch (error) {
    element.textContent = source;
  }
  return element;
}

const MOST_FORMATTED = 20000;  // characters of a block; a longer one is shown as it is written

// Formulas, code and emphasis within a line, as nodes. Marks within marks are at most `depth` deep.
function inlineNodes(text, depth = 3) {
  const nodes = [];
  const addText = (plain) => plain === '' || nodes.push(document.createTextNode(plain));
  if (text.length > MOST_FORMATTED) {
    addText(text);
    return nodes;
  }
  // Where the next formula and the next mark are, from the start of `text`; looked for again once passed.
  let [at, math, mark] = [0, undefined, undefined];
  while (at < text.length) {
    const rest = text.slice(at);
    if (math === undefined || (math && math.from < at)) {
      math = findMath(rest);
      if (math) math = {...math, from: math.from + at, to: math.to + at};
    }
    if (mark === undefined || (mark && mark.from < at)) {
      const found = INLINE.exec(rest);
      mark = found && {from: found.index + at, to: found.index + at + found[0].length, found};
    }
    if (!math && !mark) break;
    if (math && (!mark || math.from <= mark.from)) {
      addText(text.slice(at, math.from));
      nodes.push(mathElement(math, text.slice(math.from, math.to)));
      at = math.to;
      continue;
    }
    const [, , code, strong, emphasis] = mark.found;
    const inner = strong !== undefined ? strong : emphasis;
    addText(text.slice(at, mark.from));
    nodes.push(code !== undefined ? make('code', code) :
        around(strong !== undefined ? 'strong' : 'em',
               depth > 0 ? inlineNodes(inner, depth - 1) : [document.createTextNode(inner)]));
    at = mark.to;
  }
  addText(text.slice(at));
  return nodes;
}

// A block of lines that belong together: a list, a table, a heading, a paragraph.
function blockElement(lines) {
  if (HEADING.test(lines[0])) return around('h4', inlineNodes(lines[0].replace(/^#+ /, '')));
  if (lines.every((line) => ITEM.test(line))) {
    return around(/^\s*\d/.test(lines[0]) ? 'ol' : 'ul', lines.map((line) =>
        around('li', inlineNodes(line.replace(ITEM, '')))));
  }
  if (lines.length > 1 && /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(lines[1]) && lines[0].includes('|')) {
    const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());
    const row = (line, tag) => around('tr', cells(line).map((cell) => around(tag, inlineNodes(cell))));
    return around('table', [row(lines[0], 'th'), ...lines.slice(2).map((line) => row(line, 'td'))]);
  }
  return around('p', inlineNodes(lines.join('\n')));
}

// The elements of a text.
function markdown(text) {
  const elements = [];
  let lines = [];
  const flush = () => {
    if (lines.length > 0) elements.push(blockElement(lines));
    lines = [];
  };
  // Code and displayed formulas stay whole; the rest goes line by line.
  for (const [i, part] of text.split(WHOLE).entries()) {
    if (part === undefined) continue;
    if (i % 3 !== 0) {
      flush();
      elements.push(i % 3 === 1 ? around('pre', [make('code', part)]) : around('p', inlineNodes(part)));
      continue;
    }
    for (const line of part.split('\n')) {
      const turns = lines.length > 0 && ITEM.test(line) !== ITEM.test(lines[0]);
      if (line.trim() === '' || HEADING.test(line) || turns) flush();
      if (line.trim() !== '') lines.push(line);
      if (HEADING.test(line)) flush();
    }
  }
  flush();
  return elements;
}
