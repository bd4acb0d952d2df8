// The list of runs, and the address of the page, which names the run that is shown.
'use strict';

let shown = '';      // id of the run that is shown; empty: none, or one without an id
let runs = [];       // rows of /v1/runs
let mostRuns = 100;  // of them

// The address names the run that is shown, so that it can be kept, sent and loaded again.
function show(id) {
  const enter = shown ? 'pushState' : 'replaceState';  // Back leads to a run, not to the blank page between
  shown = id;
  const address = id ? `#/runs/${id}` : '';
  if (location.hash !== address) history[enter](null, '', address || location.pathname);
  drawRuns();
}

function openRun(id) { follow(id, {}, `/v1/runs/${encodeURIComponent(id)}/events`); }

// Shows what the address names: a run, or a figure of the studies.
function route() {
  const study = /^#\/studies(?:\/(.+))?$/.exec(location.hash);
  if (study) {
    shown = '';
    wantedFigure = study[1] || '';
    if ($('figures').open) loadFigures();
    $('figures').open = true;
    $(study[1] ? 'figures' : 'studies-panel').scrollIntoView();
    return;
  }
  const named = /^#\/runs\/(.+)$/.exec(location.hash);
  const id = named ? decodeURIComponent(named[1]) : '';
  if (id === shown) return;
  shown = id;
  if (id) {
    openRun(id);
    return;
  }
  blank();
}

function blank() {
  start();
  say(START);
  show('');
}

// The form as the run was asked, so that it can be asked again with changes.
function fillForm(head) {
  $('question').value = head.question || '';
  const listed = runs.find((run) => run.id === shown);
  const named = listed && listed.model ? (value) => value === `${listed.model}:${head.method}`
                                       : (value) => value.endsWith(`:${head.method}`);
  const method = [...$('method').options].find((option) => named(option.value));
  if (method) $('method').value = method.value;
  $('width').value = head.options && head.method !== 'plain' ? head.options.width || '' : '';
  $('seed').value = head.seed === undefined ? '' : head.seed;
}

// Where the server has several models, as requests name it.
function methodOf(run) {
  return run.model ? `${run.model}:${run.method}` : run.method;
}

async function refreshRuns() {
  const response = await fetch(`/v1/runs?limit=${mostRuns}`, {headers: headers()}).catch(() => null);
  if (!response || !response.ok) return;
  const listed = (await response.json()).data;
  const watched = live && listed.findIndex((run) => run.id === live.id);
  if (live && watched >= 0) {
    live.cells = listed[watched].cells;
    const before = listed.slice(watched + 1).filter((run) => run.status === 'waiting').length;
    if (listed[watched].status === 'waiting' && model.paths.size === 0) {
      say(`Waiting for lanes: ${before} runs wait before it.`);
    }
  }
  if (JSON.stringify(listed) === JSON.stringify(runs)) return;
  runs = listed;
  drawRuns();
  const second = $('other').value;
  fill($('other'), [make('option', 'none', {value: ''}), ...runs.map((run) => make('option',
      `${methodOf(run)}, ${run.answer || run.status}: ${run.question.slice(0, 60)}`, {value: run.id}))]);
  $('other').value = second;
}

async function deleteRun(run) {
  if (!confirm(`Delete the run of "${run.question.slice(0, 80)}"? It cannot be brought back.`)) return;
  const response = await fetch(`/v1/runs/${encodeURIComponent(run.id)}`, {method: 'DELETE', headers: headers()})
      .catch(() => null);
  if (!response || !response.ok) {
    const {error} = response ? await response.json().catch(() => ({})) : {};
    say(`Not deleted: ${error ? error.message : 'the server does not answer'}.`);
  } else if (run.id === shown) {
    blank();
  }
  refreshRuns();
}

// What can be done with a run of the list.
function runButtons(run) {
  const {id} = run;
  const button = (name, title, act) => {
    const one = make('button', name, {type: 'button', class: 'link', title});
    one.addEventListener('click', act);
    return one;
  };
  const open = () => { location.hash = `#/runs/${id}`; };
  return around('td', [
    button('again', 'Show this run, and ask its question again with changes', () => {
      open();
      $('ask').scrollIntoView();
      $('width').focus({preventScroll: true});
    }), ' ',
    button('compare', 'Show this run beside the one above', () => {
      if (shown === '') return open();
      $('other').value = id;
      loadOther(id).then(() => $('pair-panel').scrollIntoView());
    }), ...(['waiting', 'running'].includes(run.status) || id.startsWith('item_') ? [] : [
      ' ', button('delete', 'Delete this run, after a question', () => deleteRun(run))])]);
}

// Those that have every word of the search in some column; the shown one is marked.
function drawRuns() {
  const words = $('search').value.toLowerCase().split(/\s+/);
  const time = {dateStyle: 'short', timeStyle: 'short'};
  const seconds = (run) => Number.isFinite(run.seconds) ? run.seconds.toFixed(1) : '';
  const cells = (run) => [new Date(1000 * run.created).toLocaleString([], time), run.question, methodOf(run),
                          run.width || '', run.seed, run.answer || '', run.status, run.paths, run.tokens,
                          seconds(run), run.id].map(String);
  const rows = runs.map((run) => [run, cells(run)]).filter(([, row]) =>
      words.every((word) => row.join(' ').toLowerCase().includes(word)));
  const head = tableRow(['time', 'question', 'method', 'width', 'seed', 'answer', 'status', 'paths', 'tokens', 'seconds', ''], 'th');
  fill($('runs').tBodies[0], [head, ...rows.map(([run, row]) => {
    const {id} = run;
    const [, question] = row;
    const line = tableRow(row.slice(0, -1).map((text, column) =>
        column === 1 ? make('a', question || id, {href: `#/runs/${id}`}) : text));
    line.append(runButtons(run));
    if (id === shown) line.setAttribute('aria-current', 'true');
    return line;
  })]);
  $('more').hidden = runs.length < mostRuns || mostRuns >= 1000;
}
