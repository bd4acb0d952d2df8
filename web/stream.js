// Requests to the server, and the run whose records come.
'use strict';

const KEY_WANTED = 'The server wants its API key. Enter it under "API key".';
const START = 'Ask a question, choose a run or open a trace.';
let live = null;  // {id, cells, asked, abort} of the run whose records come

function say(text, failed) {
  $('state').textContent = text;
  $('state').classList.toggle('failed', Boolean(failed));
}

function headers() {
  const key = $('key').value;
  return Object.assign({'Content-Type': 'application/json'}, key ? {Authorization: `Bearer ${key}`} : {});
}

async function failure(response) {
  try {
    return (await response.json()).error.message;
  } catch (error) {
    return `HTTP ${response.status}`;
  }
}

// Calls each(object) for the data of each server-sent event.
async function readEvents(response, each) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const events = (buffer + value).split('\n\n');
    buffer = events.pop();
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data && data !== 'data: [DONE]') each(JSON.parse(data.slice(6)));
    }
  }
}

// A record of the run that is shown; it runs from its first path on.
function receive(record) {
  if (record.record === 'run' && !live.asked) fillForm(record);
  if (record.record === 'path' && model.paths.size === 0) say('Running ...');
  take(record);
}

// Watches a run. `id`: null where it is asked for, and the reply names it.
async function follow(id, request, path) {
  start();
  const mine = live = {id, cells: 0, asked: id === null, abort: new AbortController()};
  $('stop').disabled = false;
  say('Waiting ...');
  let trouble = null;
  try {
    const response = await fetch(path, {...request, headers: headers(), signal: mine.abort.signal});
    if (!response.ok) throw new Error(await failure(response));
    mine.id = id || response.headers.get('X-Hyper-Run');
    if (live === mine) show(mine.id);
    await readEvents(response, (data) => {
      if (live !== mine) return;
      if (data.error) trouble = data.error.message;
      if (data.record) receive(data);
    });
  } catch (error) {
    trouble = error.name === 'AbortError' ? 'stopped' : error.name === 'TypeError' ?
        `the server does not answer (${error.message})` : error.message;
  }
  refreshRuns();
  if (live !== mine) return;
  live = null;
  model.close();
  redrawAll = dirty = true;
  $('stop').disabled = true;
  say(trouble ? `Ended: ${trouble}` : ending(), trouble);
}

// The vote so far is the reply, so the run ends as any other; one that has no id yet is given up.
function stop() {
  if (live && live.id) post(`/v1/runs/${live.id}/cancel`);
  else if (live) live.abort.abort();
}

function ending() {
  const notes = model.notices.length ? ` Notes: ${model.notices.join('; ')}` : '';
  return model.result && model.result.partial ? `Partial: ${model.result.partial_reason}.${notes}`
                                              : `Done.${notes}`;
}

// "temperature=0.9 vote=majority" as members of an object; numbers and yes or no as such.
function parseOptions(text) {
  const values = {true: true, false: false};
  return Object.fromEntries(text.split(/\s+/).filter(Boolean).map((word) => {
    const [name, ...rest] = word.split('=');
    const value = rest.join('=');
    const isNumber = value !== '' && !isNaN(value);
    return [name.replace(/^--/, ''), value in values ? values[value] : isNumber ? Number(value) : value];
  }));
}

function ask(event) {
  event.preventDefault();
  show('');
  const hyper = {...parseOptions($('options').value), events: true, 'token-records': true, 'keep-running': true};
  if ($('width').value) hyper.width = Number($('width').value);
  const body = {model: $('method').value, stream: true, hyper,
                messages: [{role: 'user', content: $('question').value}]};
  if ($('seed').value) body.seed = Number($('seed').value);
  follow(null, {method: 'POST', body: JSON.stringify(body)}, '/v1/chat/completions');
}

// The reply; null after a failure.
async function post(path, body) {
  const watched = live;
  const response = await fetch(path, {method: 'POST', headers: headers(), body: JSON.stringify(body || {})});
  if (response.ok) return response.json();
  if (live === watched) say(await failure(response), true);  // a run that has just ended says so itself
  return null;
}

async function loadMethods() {
  const response = await fetch('/v1/models?methods=true', {headers: headers()}).catch(() => null);
  $('go').disabled = !response || !response.ok;
  if (!response || !response.ok) {
    say(!response ? 'The server does not answer.' : response.status === 401 ? KEY_WANTED : await failure(response),
        true);
    return;
  }
  if ($('state').textContent === KEY_WANTED) say(START);
  const all = (await response.json()).data;
  // All but the bare names of models, which stand before their methods.
  const models = all.filter((one) => !all.some((other) => other.id.startsWith(`${one.id}:`)));
  fill($('method'), models.map((one) => make('option', one.id, {value: one.id, title: one.description})));
  const wanted = models.find((one) => one.id.endsWith(':hyper'));
  if (wanted) $('method').value = wanted.id;
}
