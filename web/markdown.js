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

// Formulas, code and emphasis within a line, as nodes.
function inlineNodes(text) {
  if (text === '') return [];
  const math = findMath(text);
  const mark = INLINE.exec(text);
  if (math && (!mark || math.from <= mark.index)) {
    return [...inlineNodes(text.slice(0, math.from)), mathElement(math, text.slice(math.from, math.to)),
            ...inlineNodes(text.slice(math.to))];
  }
  if (!mark) return [document.createTextNode(text)];
  const [whole, , code, strong, emphasis] = mark;
  const inner = code !== undefined ? make('code', code) :
      around(strong !== undefined ? 'strong' : 'em', inlineNodes(strong !== undefined ? strong : emphasis));
  return [document.createTextNode(text.slice(0, mark.index)), inner,
          ...inlineNodes(text.slice(mark.index + whole.length))];
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
