// Checks the page in Chromium against a running server: asks, watches, chooses a path, opens a kept
// run, compares two, shares, and measures the script time per frame of a replay. The server must have a
// store with evaluations in it. Part of `make check-full`.
//   node tests/page_check.mjs URL OUT_DIR    (playwright-core must be found; CHROMIUM: the browser)
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, launch} from './support/browser.mjs';

const [url, out] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const MOST_SCRIPT_MS = 8;
const {browser, open} = await launch(url);

// Asks over the keyboard alone and waits for the end.
async function ask(page) {
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
  await page.focus('#width');
  await page.keyboard.type('12');
  await page.keyboard.press('Tab');
  await page.keyboard.type('7');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent),
                             undefined, {timeout: 120000});
}

async function checkDesktop() {
  const page = await open({viewport: {width: 1400, height: 1000}, colorScheme: 'light'});
  await ask(page);
  await page.waitForTimeout(300);
  const state = await page.textContent('#state');
  expect(state.startsWith('Done'), `the run is done (${state})`);
  expect((await page.textContent('#answer')) !== '\u2013', 'an answer is shown');
  expect(await page.locator('#ballot tr').count() > 3, 'the ballot has every rule');
  expect(await page.locator('#confidence canvas').count() === 1, 'confidence is plotted');
  expect(await page.locator('#controller canvas').count() === 1, 'the controller is plotted');
  expect(await page.locator('#scatter canvas').count() === 1, 'actions are plotted by confidence and diversity');
  await page.focus('#tree');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.waitForTimeout(200);
  expect(await page.locator('#text span').count() > 5, 'the chosen path shows its tokens');
  await page.screenshot({path: join(out, 'light.png'), fullPage: true});
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#share')]);
  const shared = join(out, 'shared.html');
  await download.saveAs(shared);
  await page.click('#runs tr:nth-child(2) a');
  await page.waitForFunction(() => document.querySelector('#state').textContent.startsWith('Done'));
  await page.waitForTimeout(300);
  expect(await page.locator('#runs tr[aria-current]').count() === 1, 'the kept run is marked in the list');
  expect(page.outside.length === 0, `nothing is loaded from elsewhere (${page.outside})`);
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
  return shared;
}

async function checkShared(shared) {
  const page = await open({viewport: {width: 1200, height: 900}, colorScheme: 'dark', offline: true});
  expect(readFileSync(shared, 'utf8').indexOf('<script src') < 0, 'the shared file has its scripts inside');
  await page.goto(`file://${shared}`);
  await page.waitForTimeout(500);
  expect((await page.textContent('#answer')) !== '\u2013', 'the shared file shows the answer');
  await page.screenshot({path: join(out, 'shared.png'), fullPage: true});
  expect(page.troubles.length === 0, `no error in the shared file (${page.troubles})`);
}

// Two kept runs side by side, the evaluations of the store, and both in a shared file.
async function checkPairAndStudies() {
  const page = await open({viewport: {width: 1400, height: 1000}, colorScheme: 'light'});
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll('#other option').length > 2);
  await page.click('#runs tr:nth-child(2) a');
  await page.waitForFunction(() => document.querySelector('#state').textContent.startsWith('Done'));
  await page.selectOption('#other', {index: 2});
  await page.waitForSelector('#pair:not([hidden])');
  await page.waitForTimeout(300);
  for (const side of ['first', 'second']) {
    expect((await page.textContent(`#${side}-answer`)) !== '\u2013', `the ${side} run shows its answer`);
    expect((await page.textContent(`#${side}-question`)).includes('books'), `the ${side} run shows its question`);
    expect(await page.locator(`#${side}-ballot tr`).count() > 1, `the ${side} run shows its ballot`);
  }
  expect(await page.locator('#studies tr').count() > 2, 'the table of evaluations has rows');
  expect(await page.locator('#accuracy-cost canvas').count() === 1, 'accuracy is plotted against tokens');
  await page.locator('#pair').scrollIntoViewIfNeeded();
  await page.screenshot({path: join(out, 'pair.png'), fullPage: true});
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#share')]);
  const shared = join(out, 'shared-pair.html');
  await download.saveAs(shared);
  const phone = await open({viewport: {width: 390, height: 844}, colorScheme: 'dark', deviceScaleFactor: 2,
                            isMobile: true, offline: true});
  await phone.goto(`file://${shared}`);
  await phone.waitForTimeout(500);
  expect((await phone.textContent('#second-answer')) !== '\u2013', 'the shared file has the second run');
  expect(await phone.locator('#studies tr').count() > 2, 'the shared file has the evaluations');
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide <= 0, `nothing sticks out of the shared file on a phone (${wide} px)`);
  await phone.screenshot({path: join(out, 'shared-pair.png'), fullPage: true});
  expect(page.troubles.concat(phone.troubles).length === 0, `no error in either (${page.troubles}${phone.troubles})`);
}

async function checkDarkAndPhone() {
  const dark = await open({viewport: {width: 1400, height: 1000}, colorScheme: 'dark'});
  await ask(dark);
  await dark.waitForTimeout(300);
  await dark.screenshot({path: join(out, 'dark.png'), fullPage: true});
  const phone = await open({viewport: {width: 390, height: 844}, colorScheme: 'light', deviceScaleFactor: 2,
                            isMobile: true});
  await ask(phone);
  await phone.waitForTimeout(300);
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide <= 0, `nothing sticks out on a phone (${wide} px)`);
  await phone.screenshot({path: join(out, 'phone.png'), fullPage: true});
}

// 80 paths x 4,000 tokens at 2,000 tokens/s would take 160 s; `seconds` of it are played.
async function checkReplay(seconds) {
  const page = await open({viewport: {width: 1400, height: 1000}});
  await page.goto(url);
  const times = await page.evaluate(async (length) => {
    const rate = 2000, paths = 80;
    const records = [{record: 'run', id: 'made', method: 'hyper', seed: 1, question: '', options: {window: 64}}];
    for (let path = 0; path < paths; path++) {
      records.push({record: 'path', path, parent: null, position: 0, warmup: false});
    }
    // The whole stream is taken in at once up to the part that is played, so that it is played full.
    for (let position = 0; position < 4000; position++) {
      for (let path = 0; path < paths; path++) {
        records.push({record: 'token', path, position, token: 1, text: 'word ', logprob: -0.1, routes: 1,
                      confidence: 8 + 4 * Math.sin(position / 50 + path), entropy: 0.2});
      }
    }
    const played = records.length - length * rate;
    // Names of the page's own scripts.
    start();
    records.slice(0, played).forEach(take);
    return playAgain(records.slice(played), rate, model);
  }, seconds);
  console.log(`script per frame: median ${times.median.toFixed(2)} ms, p95 ${times.p95.toFixed(2)} ms, most ` +
              `${times.most.toFixed(2)} ms over ${times.frames} frames`);
  await page.screenshot({path: join(out, 'replay.png')});
  expect(times.p95 <= MOST_SCRIPT_MS, `95 % of the frames take at most ${MOST_SCRIPT_MS} ms of script`);
}

try {
  await checkShared(await checkDesktop());
  await checkDarkAndPhone();
  await checkPairAndStudies();
  await checkReplay(10);
} finally {
  await browser.close();
}
