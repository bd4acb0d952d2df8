// Takes a picture of the page of a running server that answers a question, for README.md.
//   hyper serve & node scripts/picture_page.mjs URL OUTPUT.png [QUESTION]
// playwright-core must be found from the current folder; CHROMIUM: the browser.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const QUESTION = 'Ben has 44 boxes with 23 books each. Ben buys 47 more. Ben gives away 73. ' +
    'How many books does Ben have now?';
const [url, output, question = QUESTION] = process.argv.slice(2);
const {chromium} = createRequire(join(process.cwd(), 'x.js'))('playwright-core');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
                                       args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1440, height: 1220}});
await page.goto(url);
await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
await page.fill('#question', question);
await page.fill('#width', '40');
await page.fill('#seed', '1');
await page.click('#go');
await page.waitForFunction(() => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent),
                           undefined, {timeout: 120000});
await page.waitForTimeout(1000);
const box = await page.locator('#confidence .u-over').boundingBox();
await page.mouse.move(box.x + 0.45 * box.width, box.y + 0.4 * box.height);  // so that marks are drawn
await page.waitForTimeout(500);
await page.screenshot({path: output});
await browser.close();
