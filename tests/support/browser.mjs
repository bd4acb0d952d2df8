// Chromium for the checks of the page.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const {chromium} = createRequire(join(process.cwd(), 'x.js'))('playwright-core');

export function expect(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok: ${what}`);
}

// The browser, and open(options): a page in a context of its own. `page.outside` are the requests to
// other servers than `url`, `page.troubles` the errors of scripts and of the console.
export async function launch(url) {
  const browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
                                         args: ['--no-sandbox']});
  async function open(options) {
    const context = await browser.newContext({acceptDownloads: true, ...options});
    const page = await context.newPage();
    page.outside = [];
    page.troubles = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && /^https?:/.test(request.url())) page.outside.push(request.url());
    });
    page.on('pageerror', (error) => page.troubles.push(error.message));
    page.on('console', (message) => { if (message.type() === 'error') page.troubles.push(message.text()); });
    return page;
  }
  return {browser, open};
}
