// A run outside the server: as a file with everything inside, as a trace, and played again.
'use strict';

let frameTimes = null;  // filled while a replay is measured
let replay = null;

// Plays records again at `rate` tokens/s; calls done() at the end.
class Replay {
  constructor(records, rate, done) {
    this.records = records;
    this.rate = rate;
    this.done = done;
    this.at = 0;
    this.tokens = 0;
    this.begin = null;
  }
  advance(now) {
    this.begin = this.begin === null ? now : this.begin;
    const due = (now - this.begin) / 1000 * this.rate;
    while (this.at < this.records.length && this.tokens <= due) {
      const record = this.records[this.at++];
      take(record);
      if (record.record === 'token') this.tokens++;
    }
    if (this.at >= this.records.length) {
      replay = null;
      redrawAll = dirty = true;
      this.done();
    }
  }
}

// Resolves with the script time of the frames; `onto`: a run that the records go on with.
function playAgain(records, rate, onto) {
  return new Promise((resolve) => {
    start(onto);
    frameTimes = [];
    replay = new Replay(records, rate, () => {
      const times = frameTimes.sort((a, b) => a - b);
      frameTimes = null;
      const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
      resolve({frames: times.length, median: at(0.5), p95: at(0.95), most: times[times.length - 1]});
    });
  });
}

async function onReplay() {
  const records = model.records;
  const tokens = records.filter((record) => record.record === 'token').length;
  $('replay').disabled = true;
  say('Replaying ...');
  const times = await playAgain(records, Math.max(200, tokens / 15));
  say(`Replayed. Script per frame: median ${times.median.toFixed(2)} ms, 95 % below ${times.p95.toFixed(2)} ms.`);
}

function loadLines(text) {
  start();
  show('');
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      take(JSON.parse(line));
    } catch (error) {
      say('The file is no trace: a line is not JSON.', true);
      return;
    }
  }
  say(ending());
}

// The page with its scripts and the records inside, as one file.
async function share() {
  const text = (address) => fetch(address).then((response) => response.text());
  const [uplotStyle, style] = await Promise.all(['/page/uplot.css', '/page/page.css'].map(text));
  const scripts = await Promise.all([...document.scripts].map((script) => text(script.src)));
  const html = await text('/');
  const parts = {records: model.records, other: other ? other.records : null, studies, figures};
  const data = JSON.stringify(parts).replaceAll('<', '\\u003c');
  const body = html.slice(html.indexOf('<body>'), html.indexOf('<script'));
  const script = (code) => `<script>${code.replaceAll('</script', '<\\/script')}</script>`;
  const whole = `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1"><title>HyPER run</title>` +
      `<style>${uplotStyle}${style}</style></head>${body}` +
      `<script type="application/json" id="run-data">${data}</script>` +
      scripts.map(script).join('') + '</body></html>';
  const link = make('a', '', {href: URL.createObjectURL(new Blob([whole], {type: 'text/html'})),
                              download: `hyper-${(model.head && model.head.id) || 'run'}.html`});
  link.click();
  URL.revokeObjectURL(link.href);
}

function embedded() { return $('run-data'); }

function openEmbedded() {
  const online = [$('ask'), document.querySelector('label[for=trace]'), $('runs-panel'), $('new'), $('to-runs'),
                  $('share'), $('steer')];
  online.forEach((element) => { element.hidden = true; });
  $('other').parentElement.hidden = true;
  const data = JSON.parse(embedded().textContent);
  data.records.forEach(take);
  studies = data.studies;
  figures = data.figures;
  $('figures').hidden = figures.length === 0;
  if (data.other) {
    other = new RunModel();
    data.other.forEach((record) => other.take(record));
  }
  drawStudies();
  say(ending());
  redrawAll = true;
}
