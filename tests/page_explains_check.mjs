// Checks in Chromium that the page explains a run: one time axis that is marked everywhere, tokens with their
// alternatives, the account, ballots, what-if, formulas, keys, a phone. Part of `make check-full`. The server
// has a store with evaluations in it.
//   node tests/page_explains_check.mjs URL OUT_DIR    (playwright-core must be found; CHROMIUM: the browser)
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, launch} from './support/browser.mjs';

const [url, out] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const {browser, open} = await launch(url);

const ended = (page) => page.waitForFunction(
    () => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent), undefined, {timeout: 120000})
    .then(() => page.waitForTimeout(300));
const text = (page, id) => page.textContent(`#${id}`);

async function visit(size) {
  const page = await open({viewport: {width: 1440, height: 1300}, colorScheme: 'light', ...size});
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
  return page;
}

// The page without a run offers questions; one of them is asked by a click.
async function checkEmptyPage() {
  const page = await visit();
  expect(await page.isHidden('#time-panel') && await page.isHidden('#what-if'), 'without a run nothing of one is shown');
  expect(await page.locator('#samples button').count() > 2, 'but questions to try');
  await page.fill('#width', '12');
  await page.fill('#seed', '7');
  await page.locator('#samples button').first().click();
  await ended(page);
  expect((await text(page, 'shown-question')).startsWith('Finn'), 'a click asks one');
  expect(await page.isVisible('#time-panel') && await page.isHidden('#samples'), 'and its run is shown');
  await page.fill('#question', 'Ben has 44 boxes with 23 books each. Ben buys 47 more. Ben gives away 73. How many books?');
  await page.click('#go');
  await ended(page);
  return page;
}

// Everything along time is at the same place, and what the pointer is on is marked in all of it.
async function checkTimeAxis(page) {
  const places = await page.evaluate(() => ['confidence', 'controller'].map((name) => {
    const {plot} = charts[name];
    const over = plot.over.getBoundingClientRect();
    return [over.left + plot.valToPos(20, 'x'), $('tree').getBoundingClientRect().left + axis.x(20, $('tree').clientWidth)];
  }));
  places.forEach(([chart, line]) => expect(Math.abs(chart - line) < 1.5, `token 20 is at ${chart} and ${line} px`));
  const box = await page.locator('#confidence .u-over').boundingBox();
  const aim = await page.evaluate(() => {
    const path = [...model.paths.values()].find((one) => one.points.length > 20);
    const [position, mean] = path.points[15];
    return {id: path.id, position, x: charts.confidence.plot.valToPos(position, 'x'), y: charts.confidence.plot.valToPos(mean, 'y')};
  });
  await page.mouse.move(box.x + aim.x, box.y + aim.y);
  await page.waitForTimeout(200);
  const said = await text(page, 'readout');
  expect(said.startsWith(`token ${aim.position}: `) && /path \d+, /.test(said), `the readout says what is there (${said})`);
  const painted = () => page.evaluate(() => {
    const {data} = $('marks').getContext('2d').getImageData(0, 0, $('marks').width, $('marks').height);
    return data.some((value) => value !== 0);
  });
  expect(await painted(), 'marks are drawn');
  await page.mouse.move(5, 5);
  await page.waitForTimeout(200);
  expect(!await painted(), 'and go with the pointer');
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 50, {steps: 4});
  await page.mouse.up();
  await page.waitForTimeout(300);
  const zoomed = await page.evaluate(() => [axis.now(), charts.controller.plot.scales.x].map((one) => one.min === undefined ?
      one : [one.min, one.max]));
  expect(zoomed[0].join() === zoomed[1].join() && zoomed[0][0] > 0, `a drag zooms all of it (${zoomed.join(' / ')})`);
  await page.click('#whole');
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => axis.now()[0]) === 0, 'and a button shows the whole run again');
  await page.focus('#tree');
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(200);
  const before = Number(/^token (\d+)/.exec(await text(page, 'readout'))[1]);
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(200);
  expect((await text(page, 'readout')).startsWith(`token ${before + 1}: `), 'the arrow keys move the mark');
  const span = () => page.evaluate(() => axis.now()[1] - axis.now()[0]);
  const whole = await span();
  await page.keyboard.press('+');
  expect(await span() < whole, 'the keys zoom');
  await page.keyboard.press('0');
  expect(await span() === whole, 'and show the whole run');
}

// Any run of the table stands beside the one that is shown, with what differs.
async function checkCompare(page) {
  await page.locator('#runs tr', {hasText: 'Finn'}).first().locator('button', {hasText: 'compare'}).click();
  await page.waitForSelector('#pair:not([hidden])');
  await page.waitForTimeout(300);
  expect((await text(page, 'second-question')).startsWith('Finn'), 'a run of the table stands beside the one shown');
  expect((await text(page, 'first-account')).includes('voters say'), 'each with its account');
  expect((await text(page, 'pair-differs')) !== '', 'and with the options in which they differ');
}

// The reply is open, its formula is one, and a token tells of its alternatives.
async function checkText(page) {
  expect((await text(page, 'path-title')).endsWith('the reply'), 'the reply is open without a click');
  expect(await page.locator('#reply math').count() > 0, 'its formula is MathML');
  expect((await page.locator('#text h3').allTextContents()).map((one) => one.split(',')[0]).join() === 'Reasoning,Answer',
         'reasoning and answer stand apart');
  await page.hover('#text span >> nth=0');
  const tip = await text(page, 'tip');
  expect(tip.includes('probability'), 'a token says how sure the model was');
  const counts = await page.evaluate(() => {
    const first = [...model.paths.values()].map((path) => model.tokensOf(path.id)[0]).filter(Boolean);
    return {all: first.length, same: first.filter((token) => token.text === model.tokensOf(selected)[0].text).length};
  });
  expect(tip.includes(`${counts.all} paths have the same text`) && tip.includes(`(${counts.same})`),
         `and what other paths wrote there (${tip})`);
  await page.focus('#text');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  expect((await text(page, 'tip')).includes('token 2') || (await text(page, 'tip')).includes('token 1'), 'by keys too');
  const painted = await page.evaluate(() => {  // the same probability has the same colour in any text
    const [low, high] = [{logprob: Math.log(0.5)}, {logprob: 0}].map((token) => tokenSpan(token, 0, HEATS.probability, 20));
    return [low.style.background, high.style.background];
  });
  expect(painted[0].includes('0.38') && painted[1] === '', `the scale is absolute (${painted})`);
  await page.keyboard.press('Escape');
  expect(await page.isHidden('#tip'), 'and Escape closes it');
}

// Untrusted text stays text, whatever it looks like.
async function checkMarkdown(page) {
  const html = await page.evaluate(() => around('div', markdown(
      '# Head\n<img src=x onerror=alert(1)> **bold** `a*b`\n\n- one\n- two $x^2$\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n' +
      '```py\nx = **1**\n```\nprice $5 and $6, then \\[\\frac{1}{2}\\] and \\boxed{\\frac{a}{b}}, \\(\\badcommand{\\)')).innerHTML);
  const has = (part, what) => expect(html.includes(part), html.includes(part) ? what : `${what} (${html})`);
  has('<h4>Head</h4>', 'headings');
  expect(!html.includes('<img'), 'markup of the model is no markup');
  has('<strong>bold</strong>', 'bold');
  has('<code>a*b</code>', 'code keeps its signs');
  has('<li>one</li>', 'lists');
  has('<td>2</td>', 'tables');
  has('x = **1**', 'blocks of code keep theirs');
  has('price $5 and $6', 'prices are no formulas');
  expect((html.match(/<math/g) || []).length === 3, 'three formulas are rendered');
  has('\\(\\badcommand{\\)', 'a formula that cannot be read stays as it is');
}

// A rule that disagrees stands out, a click marks its paths, and the vote can be counted otherwise.
async function checkBallot(page) {
  await page.evaluate(() => {
    start();
    const options = {width: 4, interval: 8, window: 4, 'lambda-length': 0.6, 'lambda-confidence': 0.4, 'vote-top': 3,
                     'vote-temperature': 1};
    take({record: 'run', id: 'made', method: 'sc', seed: 1, question: 'q', options});
    take({record: 'warmup', threshold: 5});
    [['986', 40, 9, 8], ['986', 50, 8, 6], ['986', 45, 8, 6], ['956', 60, 30, 7]].forEach(([answer, tokens, mean, low], path) => {
      take({record: 'path', path, parent: null, position: 0, warmup: false});
      take({record: 'finish', path, status: 'finished', tokens, answer, mean_confidence: mean, lowest_window: low,
            tentative: false, reason: ''});
    });
    const rules = ['majority', 'confidence', 'length', 'deepconf', 'length_confidence', 'importance_sampling', 'cisc'];
    const votes = Object.fromEntries(rules.map((rule) => {
      const scores = countVotes(votersOf(model), rule, options);
      return [rule, {answer: scores[0].answer, scores}];
    }));
    take({record: 'result', answer: '986', vote_rule: 'majority', voting_paths: 4, votes, options, paths: [],
          ledger: {generated: 195, effective: 195, saved: 0, lanes_peak: 4, cells_peak: 9}});
  });
  await page.waitForTimeout(300);
  const differ = await page.locator('#ballot tr.differs td:first-child').allTextContents();
  expect(differ.join() === 'confidence,cisc', `rules that disagree stand out (${differ})`);
  expect((await text(page, 'account')).includes('3 of 4 voters say 986; 1 says 956.'), 'the account says how they voted');
  await page.locator('#ballot tr', {hasText: 'majority'}).locator('button').nth(1).click();
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => [marks.pinned, selected].join()) === '956,3', 'a click on an answer marks its paths');
  await page.selectOption('#what-rule', 'cisc');
  expect((await text(page, 'what-if-outcome')).startsWith('956 instead of 986; 4 voters'), 'another rule is counted');
  await page.selectOption('#what-rule', 'majority');
  await page.locator('#what-threshold').fill('6.5');
  expect((await text(page, 'what-if-outcome')).includes('2 voters'), 'a higher threshold drops voters');
  await page.locator('#what-threshold').fill('5');
  await page.locator('#what-paths').fill('2');
  expect((await text(page, 'what-if-outcome')).startsWith('Still 986; 2 voters; 105 tokens fewer'), 'so do fewer paths');
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

// The figures show the numbers of `hyper figures`, on whole axes, with errors.
async function checkFigures() {
  const page = await visit();
  await page.goto(`${url}/#/studies/budget`);
  await page.waitForSelector('#figure-panels svg');
  const scale = await page.evaluate(() => [charts.cost.plot.scales.y.min, charts.cost.plot.scales.y.max,
                                           charts.cost.bars.length, studies.length]);
  expect(scale[0] === 0 && scale[1] === 100, `accuracy has an axis from 0 to 100 % (${scale})`);
  expect(scale[2] === scale[3], 'and an error bar for each row');
  expect(await page.inputValue('#figure') === 'budget', 'the address names a figure');
  const listed = (await (await fetch(`${url}/v1/studies/figures`)).json()).data;
  const {csv} = listed.find((one) => one.name === 'budget');
  const rows = csv.trim().split('\n').slice(1).map((line) => line.replace(/"[^"]*"/g, 'quoted').split(','))
      .filter(([, series]) => ['cot', 'sc'].includes(series));
  expect(rows.length === 2, 'the CSV has a point of each row');
  const told = await page.locator('#figure-panels svg .mark title').allTextContents();
  for (const [, series, , , , , y] of rows) {
    const value = `: ${Number(Number(y).toPrecision(4))}`;
    expect(told.some((title) => title.startsWith(`${series}: `) && title.includes(value)), `${series} tells ${y} (${told})`);
  }
  const ticks = await page.locator('#figure-panels svg text').allTextContents();
  expect(['0', '20', '100'].every((tick) => ticks.includes(tick)), 'its axis has ticks from 0 to 100');
  await page.locator('#figure-legend button', {hasText: 'sc'}).click();
  const left = await page.locator('#figure-panels svg .mark title').allTextContents();
  expect(left.length < told.length && !left.some((title) => title.startsWith('sc: ')), 'a series can be hidden');
  const without = listed.find((one) => one.missing);
  await page.selectOption('#figure', without.name);
  expect((await text(page, 'figure-finding')).includes(without.missing), 'a figure that is missing says why');
  await page.selectOption('#figure', 'budget');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#figure-csv')]);
  await download.saveAs(join(out, 'budget.csv'));
  expect(readFileSync(join(out, 'budget.csv'), 'utf8') === csv, 'its numbers can be saved');
  await page.locator('#studies-panel').screenshot({path: join(out, 'figures.png')});
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

async function checkPhone() {
  const page = await visit({viewport: {width: 390, height: 844}, deviceScaleFactor: 2, isMobile: true});
  await page.locator('#runs a').first().click();
  await ended(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - screen.width);
  expect(wide <= 0, `nothing sticks out on a phone (${wide} px)`);
  await page.screenshot({path: join(out, 'phone.png'), fullPage: true});
}

// All controls have a name, and the paths can be read as a table.
async function checkNames(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea, canvas')]
      .filter((one) => !one.closest('[aria-hidden], [role=img]') && !one.textContent.trim() && !(one.labels && one.labels.length) &&
                       !one.getAttribute('aria-label') && !one.getAttribute('aria-labelledby'))
      .map((one) => one.id || one.outerHTML));
  expect(nameless.length === 0, `every control has a name (${nameless})`);
  await page.click('#path-list summary');
  await page.waitForTimeout(300);
  expect(await page.locator('#path-table tr').count() === 5, 'the paths are a table, too');
}

try {
  const page = await checkEmptyPage();
  await checkTimeAxis(page);
  await checkText(page);
  await page.screenshot({path: join(out, 'explains.png'), fullPage: true});
  await checkCompare(page);
  await checkMarkdown(page);
  await checkBallot(page);
  await checkNames(page);
  await checkFigures();
  await checkPhone();
} finally {
  await browser.close();
}
