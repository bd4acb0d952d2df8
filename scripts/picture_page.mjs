// Takes a picture of the page of a running server that answers a question, for README.md.
//   hyper serve & node scripts/picture_page.mjs URL OUTPUT.png [QUESTION]
// playwright-core must be found from the current folder; CHROMIUM: the browser.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [url, output, question = 'Start with 12, add 7, multiply by 5.'] = process.argv.slice(2);
const {chromium} = createRequire(join(process.cwd(), 'x.js'))('playwright-core');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
                                       args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1400, height: 1000}});
await page.goto(url);
await page.waitForFunction(() => document.querySelectorAll('#method option').length > 3);
await page.fill('#question', question);
await page.fill('#seed', '1');
await page.click('#go');
await page.waitForFunction(() => /^(Done|Partial|Ended)/.test(document.querySelector('#state').textContent),
                           undefined, {timeout: 120000});
await page.waitForTimeout(1000);
await page.screenshot({path: output});
await browser.close();
