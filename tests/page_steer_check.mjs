// Checks in Chromium that a run is changed from the page: a live one (fork at a token, prune, finish, more
// paths), and the fork of one that has ended, which opens a run of its own. Part of `make check-full`.
//   node tests/page_steer_check.mjs URL OUT_DIR   (playwright-core must be found; CHROMIUM: the browser)
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, launch} from './support/browser.mjs';

const [url, out] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const {browser, open} = await launch(url);
const LONG = {timeout: 240000};

async function api(path, body) {
  const response = await fetch(url + path, body && {method: 'POST', body: JSON.stringify(body)});
  return response.json();
}

// Starts a run of another client, which writes on for long where it is so hot. Its id.
async function start(hyper) {
  const model = (await api('/v1/models')).data[0].id;
  const question = 'Solve 5x+43=173 for x.';
  const reply = await fetch(`${url}/v1/chat/completions`, {method: 'POST', body: JSON.stringify({
    model: `${model}:sc`, stream: true, messages: [{role: 'user', content: question}],
    hyper: {'keep-running': true, 'token-records': true, ...hyper}})});
  const id = reply.headers.get('x-hyper-run');
  await reply.body.cancel();
  return id;
}

async function visit(id) {
  const page = await open({viewport: {width: 1400, height: 1000}, colorScheme: 'light'});
  await page.goto(`${url}/#/runs/${id}`);
  return page;
}

const has = (page, holds, what) => page.waitForFunction(holds, what, LONG);
const ended = (page) => has(page, () => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent));

async function clickToken(page, token) {
  await page.locator(`#text [data-token="${token}"]`).click(LONG);
  expect(await page.inputValue('#fork-at') === String(token), `a click takes token ${token}`);
}

// Presses a button beside a path that still runs, until one has ended in that way: it may be over before.
async function end(page, button, status) {
  for (;;) {
    const id = await page.evaluate(() => {
      const path = [...model.paths.values()].find((one) => one.status === 'running');
      choose(path.id);
      return path.id;
    });
    const pressed = await page.click(`#${button}`, {timeout: 3000}).then(() => true, () => false);
    await has(page, (one) => model.paths.get(one).status !== 'running', id);
    const was = await page.evaluate((one) => model.paths.get(one), id);
    if (pressed && was.status === status && was.reason.endsWith('by request')) return;
  }
}

async function checkLive() {
  const id = await start({width: 24, temperature: 20, 'top-p': 1, 'top-k': 0, 'min-p': 0, 'max-tokens': 3000,
                          'loop-guard': 'off', stop: 'never'});
  const page = await visit(id);
  await has(page, () => model.paths.size === 24 && model.paths.get(1).length > 20);
  await page.evaluate(() => choose(1));
  await clickToken(page, 5);
  await page.fill('#fork-text', 'So ');
  await page.fill('#fork-n', '2');
  await page.fill('#fork-temperature', '0.5');
  await page.fill('#fork-seed', '9');
  await page.click('#fork');
  await has(page, () => model.paths.size === 26);
  expect(await page.evaluate(() => model.paths.get(24).parent === 1 && model.paths.get(25).start === 5),
         'two paths are forked from the token');
  await page.fill('#fork-text', '');
  await end(page, 'prune', 'pruned');
  await end(page, 'finish', 'length');
  await page.fill('#fork-n', '3');
  await page.click('#widen');
  await has(page, () => model.paths.size === 29);
  expect(await page.evaluate(() => model.paths.get(28).parent === null), 'more paths begin at the question');
  await page.screenshot({path: join(out, 'steer-live.png'), fullPage: true});
  await api(`/v1/runs/${id}/cancel`, {});
  await ended(page);
  expect((await page.textContent('#state')).includes('continues path 1 from token 5'), 'the notes tell of it');
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

async function checkEnded() {
  const id = await start({width: 4});
  const page = await visit(id);
  await ended(page);
  await page.evaluate(() => choose(0));
  for (const button of ['prune', 'finish', 'widen']) {
    expect(await page.locator(`#${button}`).isHidden(), `${button} is not offered after the end`);
  }
  await clickToken(page, 6);
  await page.fill('#fork-text', 'Wait. ');
  await page.fill('#fork-n', '2');
  await page.screenshot({path: join(out, 'steer-ended.png'), fullPage: true});
  await page.click('#fork');
  await has(page, (old) => location.hash !== `#/runs/${old}` && model.head && model.head.id !== old, id);
  await ended(page);
  expect(await page.evaluate(() => model.paths.size === 2), 'the new run has two paths');
  expect((await page.textContent('#state')).includes(`goes on from token 6 of path 0 of ${id}`),
         'the notes say where it begins');
  expect((await page.textContent('#shown-question')).includes('multiply by 5'), 'the question is the old one');
  await page.screenshot({path: join(out, 'steer-fork.png'), fullPage: true});
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

async function checkDocs() {
  const page = await open({viewport: {width: 1200, height: 900}, colorScheme: 'light'});
  await page.goto(`${url}/docs`);
  await page.waitForSelector('#forkPath');
  expect((await page.textContent('#forkPath')).includes('POST /v1/runs/{run}/paths/{path}/fork'), 'requests are shown');
  expect((await page.textContent('#Fork')).includes('temperature'), 'and the fields of bodies');
  expect(await page.evaluate(() => [...document.querySelectorAll('a[href^="#"]')].every(
      (link) => document.getElementById(link.hash.slice(1)))), 'all links lead to something');
  await page.screenshot({path: join(out, 'docs.png')});
  await page.locator('#Fork').scrollIntoViewIfNeeded();
  await page.screenshot({path: join(out, 'docs-fork.png')});
  expect(page.troubles.length === 0, `no error in the page (${page.troubles})`);
}

try {
  await checkDocs();
  await checkEnded();
  await checkLive();
} finally {
  await browser.close();
}
