// A second run beside the one that is shown.
'use strict';

let other = null;  // the second run, a RunModel

// Options that both runs have and in which they differ, in words.
function differences(one, two) {
  const [first, second] = [one.options(), two.options()];
  return Object.keys(first).filter((name) => name in second && String(first[name]) !== String(second[name])).sort()
      .map((name) => `${name}: ${first[name]} / ${second[name]}`);
}

function drawPair() {
  $('pair').hidden = other === null;
  if (other === null) return;
  const differ = differences(model, other);
  $('pair-differs').textContent =
      differ.length ? `Options that differ: ${differ.join(', ')}.` : 'Both have the same options.';
  [model, other].forEach((run, i) => {
    const side = i === 0 ? 'first' : 'second';
    $(`${side}-title`).textContent = run.head ? `${run.head.id}: ${run.head.method}` : 'no run';
    $(`${side}-question`).textContent = run.head ? run.head.question : '';
    const answer = run.result ? run.result.answer : null;
    $(`${side}-answer`).textContent = answer === null || answer === undefined ? '\u2013' : answer;
    fill($(`${side}-account`), account(run).map((sentence) => make('li', sentence)));
    drawNumbers($(`${side}-numbers`), run, null);
    drawBallot($(`${side}-ballot`), run);
    pairTrees[i].draw(run);
  });
}

async function loadOther(id) {
  other = null;
  if (id) {
    const loaded = new RunModel();
    const response = await fetch(`/v1/runs/${id}/events`, {headers: headers()}).catch(() => null);
    if (response && response.ok) {
      await readEvents(response, (data) => { if (data.record) loaded.take(data); });
      other = loaded;
    }
  }
  drawPair();
}
