// Checks in Chromium that what the page says is true of the run that it shows: after another run,
// beside a run that goes on, after Stop, of runs of other clients, while a run waits, after a reload.
// Part of `make check-full`. The server has its default lanes, so that two wide pools wait for each other.
//   node tests/page_truth_check.mjs URL    (playwright-core must be found; CHROMIUM: the browser)
import {expect, launch} from './support/browser.mjs';

const [url] = process.argv.slice(2);
const {browser, open} = await launch(url);
const pages = [];  // of the check that runs
const DESKTOP = {viewport: {width: 1400, height: 1000}};
const LONG = {timeout: 240000};
const MODEL = (await api('/v1/models')).data[0].id;

async function api(path, body) {
  const response = await fetch(url + path, body && {method: 'POST', body: JSON.stringify(body)});
  return response.json();
}

// A run of another client: nothing but the fields that every client sends, unless given.
function askElsewhere(question, method, fields) {
  return api('/v1/chat/completions', {model: `${MODEL}:${method}`, seed: 11,
                                      messages: [{role: 'user', content: question}], ...fields});
}

async function visit(address) {
  const page = await open(DESKTOP);
  pages.push(page);
  await page.goto(url + (address || '/'));
  await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
  return page;
}

async function ask(page, method, width) {
  await page.selectOption('#method', `${MODEL}:${method}`);
  await page.fill('#width', String(width));
  await page.fill('#seed', '7');
  await page.click('#go');
}

const ended = (page) => page.waitForFunction(
    () => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent), undefined, LONG)
    .then(() => page.waitForTimeout(300));
const charts = (page, id) => page.locator(`#${id} canvas`).count();
const number = (page, name) => page.locator('#numbers div').filter({has: page.locator(`dt:text-is("${name}")`)})
    .locator('dd').textContent();
const shownId = (page) => page.evaluate(() => /^#\/runs\/(.+)/.exec(location.hash)[1]);

// Charts of the run before do not stay.
async function checkChartsOfAnotherRun() {
  const {hyper} = await askElsewhere('Solve 5x+43=173 for x.', 'sc', {hyper: {width: 4}});
  const page = await visit();
  await ask(page, 'hyper', 12);
  await ended(page);
  expect(await charts(page, 'controller') === 1, 'a run of hyper shows its decisions');
  await page.evaluate((id) => { location.hash = `#/runs/${id}`; }, hyper.run);
  await ended(page);
  for (const id of ['controller', 'statistics', 'scatter']) {
    expect(await charts(page, id) === 0, `a run without decisions has no chart in ${id}`);
  }
  expect(await page.locator('#actions .bar').count() === 0, 'nor counts of actions');
  expect((await page.textContent('#controller')).includes('no decision'), 'and the page says so');
  await page.fill('#width', '512');
  await page.click('#go');
  await ended(page);
  expect((await page.textContent('#state')).includes('--lanes'), 'a refusal names what to change');
  expect(await page.locator('#state.failed').count() === 1, 'a refusal looks like one');
  expect(await charts(page, 'confidence') === 0, 'after it no curve of the run before stays');
  expect((await page.textContent('#shown-question')) === '', 'nor its question');
}

// Two runs never mix, and the one that is left goes on.
async function checkTwoRunsAtOnce() {
  const question = 'Start with 3, add 4, multiply by 5.';
  const {hyper, usage} = await askElsewhere(question, 'sc', {hyper: {width: 3}});
  const page = await visit();
  await ask(page, 'hyper', 40);
  await page.waitForFunction(() => model.records.length > 200, undefined, LONG);
  const first = await shownId(page);
  await page.evaluate((id) => { location.hash = `#/runs/${id}`; }, hyper.run);
  await ended(page);
  expect(await page.inputValue('#question') === question, 'the form has the question of the run shown');
  expect(await page.textContent('#shown-question') === question, 'the page shows it');
  expect(await page.inputValue('#method') === `${MODEL}:sc`, 'and its method');
  expect(await page.inputValue('#width') === '3', 'and its width');
  expect(await page.inputValue('#seed') === '11', 'and its seed');
  let status = '';
  while (!['done', 'partial', 'cancelled'].includes(status)) status = (await api(`/v1/runs/${first}`)).status;
  expect(status === 'done', `the run that was left went on (${status})`);
  await page.waitForTimeout(500);
  const heads = await page.evaluate(() => model.records.filter((record) => record.record === 'run'));
  expect(heads.length === 1 && heads[0].id === hyper.run, 'the records are those of one run');
  expect(Number(await number(page, 'tokens')) === usage.hyper.generated, 'its tokens are its own');
  await ask(page, 'hyper', 40);
  await page.waitForFunction(() => model.records.length > 200, undefined, LONG);
  const again = await shownId(page);
  await page.reload();
  await ended(page);
  expect(await shownId(page) === again && (await api(`/v1/runs/${again}`)).status === 'done',
         'a run outlives a reload of the page that asked for it');
  await page.goBack();
  await ended(page);
  expect(await shownId(page) === hyper.run, 'Back shows the run before');
  await page.goBack();
  await ended(page);
  expect(await shownId(page) === first, 'and the one before that');
  expect(await page.locator('#controller canvas').count() === 1, 'whole');
}

// Stop is an end with a vote.
async function checkStop() {
  const page = await visit();
  await page.route('**/v1/chat/completions', (route) => {  // so that only Stop ends it early
    const body = route.request().postDataJSON();
    body.hyper.stop = 'never';
    route.continue({postData: JSON.stringify(body)});
  });
  await ask(page, 'sc', 100);
  await page.waitForFunction(() => {
    const ready = model.answers().length > 0;
    if (ready) document.querySelector('#stop').click();
    return ready;
  }, undefined, LONG);
  await ended(page);
  const state = await page.textContent('#state');
  expect(state.startsWith('Partial'), `a stopped run is partial (${state})`);
  expect(!(await page.textContent('#answer')).endsWith('...'), 'its answer is the vote so far');
  expect(await number(page, 'running') === '0', 'none of its paths runs');
  expect(await page.locator('#ballot tr').count() > 3, 'it has a ballot under every rule');
  expect((await api(`/v1/runs/${await shownId(page)}`)).status === 'partial', 'the server says the same');
}

// A run of another client while it runs, and a run that waits for it.
async function checkOtherClientsAndWaiting() {
  const before = (await api('/v1/runs?limit=1000')).data.length;
  const others = [1, 2, 3, 4, 5].map(() => askElsewhere('Solve 5x+43=173 for x.', 'sc',
                                                  {seed: 9007199254740991, hyper: {width: 120, stop: 'never'}}));
  let listed = [];
  while (listed.length < before + 5) listed = (await api('/v1/runs?limit=1000')).data;
  const last = listed[0].id;  // which runs after the others
  const page = await visit(`/#/runs/${last}`);
  const waiting = await visit();
  await ask(waiting, 'sc', 60);
  await waiting.waitForFunction(() => location.hash !== '');
  const id = await shownId(waiting);
  let waited = 0;
  while (waited < 20) {
    const state = await waiting.textContent('#state');
    if ((await api(`/v1/runs/${id}`)).status !== 'waiting') break;
    if (!state.startsWith('Waiting')) throw new Error(`a run that waits is shown as '${state}'`);
    waited++;
  }
  expect(waited > 0, `a run that waits is shown as waiting (${waited} times looked)`);
  await waiting.click('#stop');
  const curves = await page.waitForFunction(() => [...model.paths.values()].some((path) => path.points.length > 1) &&
                                            {running: model.result === null}, undefined, LONG);
  expect((await curves.jsonValue()).running, 'a run of another client has curves while it runs');
  await ended(page);
  const reply = (await Promise.all(others)).find(({hyper}) => hyper.run === last);
  expect(await charts(page, 'confidence') === 1, 'and at the end');
  expect(Number(await number(page, 'tokens')) === reply.usage.hyper.generated, 'its tokens are counted');
  expect((await page.textContent('#text')).includes(reply.choices[0].message.content),
         'the text of the reply is shown without a click');
  const wide = await page.evaluate(() => [...document.querySelectorAll('#numbers dd')].filter(
      (cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(wide === 0 && await number(page, 'seed') === '9007199254740991', 'a seed of 16 digits fits its column');
  const box = await page.locator('#text').boundingBox();
  expect(box.y < 1000, `the text begins on the first screen (${box.y} px)`);
  await ended(waiting);
}

// The address, the key, the list and a server that is gone.
async function checkReload() {
  const question = 'Rosa has 14 bags with 30 cards each. How many cards does Rosa have now?';
  const {hyper} = await askElsewhere(question, 'hyper', {hyper: {width: 6}});
  const page = await visit(`/#/runs/${hyper.run}`);
  await ended(page);
  const answer = await page.textContent('#answer');
  await page.reload();
  await ended(page);
  expect(await page.textContent('#answer') === answer && await page.textContent('#shown-question') === question,
         'a reload shows the same run');
  await page.fill('#search', 'rosa hyper');
  const found = await page.locator('#runs td:nth-child(2)').allTextContents();
  expect(found.length > 0 && found.every((text) => text === question), 'the list is searched by words');
  await page.route('**/v1/**', (route) => route.request().headers().authorization === 'Bearer secret' ?
      route.continue() : route.fulfill({status: 401, json: {error: {message: 'a key is needed'}}}));
  await page.goto(`${url}/#`);
  await page.reload();
  await page.waitForFunction(() => document.querySelector('#state').textContent.includes('API key'));
  expect(await page.isDisabled('#go'), 'without the key nothing can be asked');
  await page.fill('#key', 'secret');
  await page.press('#key', 'Tab');
  await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
  expect(!(await page.textContent('#state')).includes('API key'), 'with the key the message goes');
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
  expect(await page.inputValue('#key') === 'secret', 'a reload keeps the key');
  await page.unroute('**/v1/**');
  await page.route('**/v1/chat/**', (route) => route.abort());
  await page.click('#go');
  await ended(page);
  expect((await page.textContent('#state')).includes('server does not answer'), 'a server that is gone is named');
}

// Made records: actions that did nothing, and 512 paths.
async function checkMadeRecords() {
  const page = await visit();
  await page.evaluate(() => {
    const statistics = {confidence: 0.5, entropy: 0.5, consensus: 0.5, diversity: 0.5, variance: 0.5};
    const scores = {none: 1, single_token: 2, multi_token: 0, branch: 0};
    start();
    take({record: 'run', id: 'made', method: 'hyper', seed: 1, question: '', options: {width: 512}});
    take({record: 'decision', step: 0, position: 8, raw: statistics, normalised: statistics, scores,
          action: 'single_token', acted: false, note: 'r_t is 1: nothing to expand'});
    take({record: 'decision', step: 1, position: 16, raw: statistics, normalised: statistics, scores,
          action: 'single_token', acted: true, note: null});
    for (let path = 0; path < 512; path++) {
      take({record: 'path', path, parent: null, position: 0, warmup: false});
      take({record: 'curve', path, position: 40, window_mean: 9});
      take({record: 'finish', path, status: 'finished', tokens: 41, reason: null, mean_confidence: 8 + path / 512,
            answer: path < 300 ? '986' : path < 500 ? '12' : null, tentative: false});
    }
  });
  await page.waitForTimeout(300);
  const counts = await page.locator('#actions .bar > span:last-child').allTextContents();
  expect(counts.join() === '1,1,0,0', `an action that did nothing counts as none (${counts})`);
  expect((await page.textContent('#notes')).includes('1 of 2 decisions: r_t is 1: nothing to expand'),
         'and the page says why it did nothing');
  const fits = await page.evaluate(() => {
    const scroller = document.querySelector('#tree').parentElement;
    return scroller.scrollHeight - scroller.clientHeight;
  });
  expect(fits <= 0, `512 paths fit without scrolling (${fits} px over)`);
  const groups = await page.evaluate(() => tree.groups.map(({label, count}) => `${label}: ${count}`));
  expect(groups.join() === '986 \u00d7 300: 300,12 \u00d7 200: 200,none: 12', `equal answers stand together (${groups})`);
  expect(await page.evaluate(() => tree.rows[0]) === 299, 'the surest path of an answer is above');
  await page.selectOption('#order', 'family');
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => tree.rows[0]) === 0, 'families can stand together instead');
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

try {
  for (const check of [checkMadeRecords, checkChartsOfAnotherRun, checkTwoRunsAtOnce, checkStop,
                       checkOtherClientsAndWaiting, checkReload]) {
    await check();
    await Promise.all(pages.splice(0).map((page) => page.context().close()));
  }
} finally {
  await browser.close();
}
