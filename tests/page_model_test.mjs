// Tests of what the page computes: votes counted again, what-if, the account in words. No browser: the
// scripts run in a context of their own. The oracle of the votes is what the server recorded.
//   node --test tests/page_model_test.mjs
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const file = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const page = vm.createContext({});
for (const name of ['model', 'votes', 'account', 'alternatives']) vm.runInContext(file(`web/${name}.js`), page);
const inPage = (code) => vm.runInContext(code, page);
const [RunModel, countVotes, votersOf, canRecount, whatIf, settledFrom, account, sameTextBefore, probableAt,
       textParts] = inPage('[RunModel, countVotes, votersOf, canRecount, whatIf, settledFrom, account, ' +
                           'sameTextBefore, probableAt, textParts]');
const plain = (value) => JSON.parse(JSON.stringify(value));  // objects of the context have other prototypes

function modelOf(records) {
  const model = new RunModel();
  records.forEach((record) => model.take(record));
  return model;
}

const recorded = (name) => modelOf(file(`tests/fixtures/page/${name}.jsonl`).trim().split('\n').map(JSON.parse));

// A pool of paths that ended: [answer, tokens, mean confidence, lowest window], "pruned" as answer: pruned.
function made(paths, options) {
  const head = {record: 'run', id: 'made', method: 'sc', seed: 1, question: '',
                options: {window: 4, 'lambda-length': 0.6, 'lambda-confidence': 0.4, 'vote-top': 3,
                          'vote-temperature': 1, ...options}};
  const records = [head, {record: 'warmup', threshold: 5}];
  paths.forEach(([answer, tokens, confidence, lowest, more = {}], path) => {
    const pruned = answer === 'pruned';
    records.push({record: 'path', path, parent: null, position: 0, warmup: false, ...more},
                 {record: 'finish', path, status: pruned ? 'pruned' : 'finished', tokens, tentative: false,
                  reason: pruned ? 'window mean 4.9 fell below the threshold 5.0' : 'end of generation',
                  answer: pruned ? null : answer, mean_confidence: confidence, lowest_window: lowest});
  });
  return modelOf(records);
}

function withResult(model, answer, votes) {
  model.take({record: 'result', answer, vote_rule: 'majority', votes, ledger: {generated: 100, saved: 0}});
  return model;
}

for (const name of ['sc', 'hyper']) {
  test(`the recorded votes of ${name} come out under every rule`, () => {
    const model = recorded(name);
    for (const [rule, vote] of Object.entries(model.result.votes)) {
      const counted = countVotes(votersOf(model), rule, model.options());
      assert.equal(counted.length, vote.scores.length);
      counted.forEach((one, i) => {
        const want = vote.scores[i];
        assert.equal(one.answer, want.answer, rule);
        assert.equal(one.paths, want.paths, rule);
        assert.equal(one.candidate, want.candidate, rule);
        assert.ok(Math.abs(one.share - want.share) < 1e-9, `${rule}: ${one.share}, recorded ${want.share}`);
      });
    }
    assert.equal(votersOf(model).length, model.result.voting_paths);
    assert.ok(canRecount(model));
    model.result.votes.majority.scores[0].share += 0.01;
    assert.ok(!canRecount(model), 'a vote that does not come out is no ground for a what-if');
  });
}

test('another rule has the recorded winner of that rule', () => {
  const model = recorded('hyper');
  const rules = Object.entries(model.result.votes);
  assert.ok(new Set(rules.map(([, vote]) => vote.answer)).size > 1, 'the fixture has rules that disagree');
  for (const [rule, vote] of rules) assert.equal(whatIf(model, {rule}).votes[0].answer, vote.answer);
});

test('confidences that are no numbers count as 0, too large ones as the largest', () => {
  const model = made([['a', 1, 10, 1], ['b', 1, null, 1], ['c', 1, 1000, 1]]);
  const scores = countVotes(votersOf(model), 'confidence', model.options());
  assert.deepEqual(plain(scores.map(({answer, score}) => [answer, score])), [['a', 10], ['c', 10], ['b', 0]]);
});

test('equal scores go to more paths, then to the surer ones, then to the smaller text', () => {
  const first = (paths, rule) => countVotes(votersOf(made(paths)), rule, made(paths).options())[0].answer;
  assert.equal(first([['b', 5, 9, 2], ['a', 5, 8, 2]], 'majority'), 'b');
  assert.equal(first([['b', 5, 8, 2], ['a', 5, 8, 2]], 'majority'), 'a');
  assert.equal(first([['a', 5, 9, 4], ['z', 5, 1, 2], ['z', 5, 1, 2]], 'deepconf'), 'z');
});

test('only the most frequent answers may win under length_confidence', () => {
  const paths = [['a', 1, 1, 1], ['a', 1, 1, 1], ['b', 100, 10, 10]];
  const winner = (top) => {
    const model = made(paths, {'vote-top': top});
    return countVotes(votersOf(model), 'length_confidence', model.options())[0].answer;
  };
  assert.equal(winner(2), 'b');
  assert.equal(winner(1), 'a');
});

test('a higher threshold prunes by the lowest window, and a lower one leaves the outcome open', () => {
  const model = withResult(made([['986', 40, 9, 8], ['986', 50, 9, 6], ['956', 60, 9, 7], ['pruned', 20, 6, 4],
                                 ['12', 20, 9, 8, {parent: 1, position: 11}], ['12', 20, 9, 2, {warmup: true}]]),
                           '986', null);
  model.take({record: 'curve', path: 1, position: 2, window_mean: 1});  // the window is not full yet
  model.take({record: 'curve', path: 1, position: 10, window_mean: 6});
  const higher = plain(whatIf(model, {threshold: 6.5}));
  assert.equal(higher.voters, 3, 'a warm-up path has no threshold');
  assert.equal(higher.lost, 2, 'with a path goes what was forked where it ended');
  assert.equal(higher.saved, 50 - 11 + 20 - 11, 'tokens behind the first low window');
  assert.equal(higher.unknown, 0);
  assert.equal(whatIf(model, {threshold: 4}).unknown, 1);
  assert.equal(whatIf(model, {threshold: 4.5}).unknown, 0, 'it is below that threshold too');
  assert.equal(whatIf(model, {threshold: null}).unknown, 1);
  assert.deepEqual(plain(whatIf(model, {}).votes.map(({answer, paths}) => [answer, paths])),
                   [['12', 2], ['986', 2], ['956', 1]]);
});

test('fewer paths are the first of the pool, and what was forked from others goes with them', () => {
  const model = withResult(made([['x', 9, 9, 9, {warmup: true}], ['x', 9, 9, 9], ['y', 9, 9, 9], ['y', 9, 9, 9],
                                 ['y', 9, 9, 9, {parent: 3, position: 4}]]), 'y', null);
  assert.equal(model.poolSize(), 3);
  const two = whatIf(model, {paths: 2});
  assert.deepEqual(plain(two.votes.map(({answer, paths}) => [answer, paths])), [['x', 2], ['y', 1]]);
  assert.equal(two.saved, 9 + 5, 'a fork saves its own tokens alone');
  assert.equal(settledFrom(model, {}), 3);
  assert.equal(settledFrom(made([['a', 1, 1, 1], ['a', 1, 1, 1]]), {rule: 'majority'}), 1);
  const many = made(Array.from({length: 1025}, () => ['a', 1, 1, 1]));
  assert.equal(settledFrom(many, {rule: 'majority'}), null, 'too many to count for each number of them');
});

test('forks that end within an interval are copies where copies do not vote', () => {
  const paths = [['a', 20, 9, 9], ['a', 20, 9, 9, {parent: 0, position: 15}], ['a', 20, 9, 9, {parent: 0, position: 5}]];
  const ids = (options) => {
    const model = made(paths, options);
    model.head.method = 'hyper';
    return votersOf(model).map((path) => path.id);
  };
  assert.deepEqual(plain(ids({interval: 8, 'vote-clones': false})), [0, 2]);
  assert.deepEqual(plain(ids({interval: 8, 'vote-clones': true})), [0, 1, 2]);
  paths[2][4].warmup = true;
  assert.deepEqual(plain(ids({interval: 8, 'vote-warmup': false})), [0, 1], 'nor need warm-up paths');
  const merged = made([['a', 20, 9, 9], ['a', 20, 9, 9]]);
  merged.take({record: 'finish', path: 1, status: 'merged', tokens: 20, answer: 'a', kept: 0});
  assert.equal(votersOf(merged).length, 1, 'a merged path has lost its vote');
});

test('the account says what happened, in words', () => {
  const paths = [['956', 30, 9, 8], ['986', 60, 9, 8], ['986', 70, 9, 8], ['pruned', 17, 5, 4], ['pruned', 17, 5, 4]];
  const model = withResult(made(paths), '986', {
    majority: {answer: '986', scores: [{answer: '986', paths: 2}, {answer: '956', paths: 1}]},
    length: {answer: '986', scores: []},
    cisc: {answer: '956', scores: []}});
  assert.deepEqual(plain(account(model)), [
    '5 paths.', '2 were pruned at token 17: confidence fell below 5.00.',
    'Two answers fought until token 70; from there on 986 led.', '2 of 3 voters say 986; 1 says 956.',
    'cisc would choose 956 instead.', '100 tokens.']);
});

test('answers that are level at the end are named', () => {
  const model = withResult(made([['a', 10, 9, 8], ['b', 20, 9, 8], ['b', 30, 9, 8], ['a', 40, 9, 8], ['c', 50, 9, 8]]),
                           'a', null);
  assert.ok(account(model).includes('3 answers fought to the end; a and b have equally many paths.'), account(model));
  const early = withResult(made([['a', 10, 9, 8], ['a', 20, 9, 8], ['b', 30, 9, 8]]), 'a', null);
  assert.ok(account(early).includes('a led from the first ended path, at token 10.'), account(early));
  const together = withResult(made([['a', 10, 9, 8], ['b', 20, 9, 8], ['a', 20, 9, 8]]), 'a', null);
  assert.ok(account(together).includes('a led from the first ended path, at token 10.'), 'paths that end together');
});

test('the account tells of the controller, an early decision and what it saved', () => {
  const model = made([['a', 10, 9, 8], ['a', 10, 9, 8], ['b', 11, 9, 8], ['c', 12, 9, 8], ['d', 13, 9, 8]]);
  model.take({record: 'path', path: 5, parent: null, position: 0, warmup: false});
  model.take({record: 'finish', path: 5, status: 'cancelled', tokens: 14, answer: null, reason: 'decided'});
  model.take({record: 'decision', position: 1, action: 'branch', acted: false});
  const told = () => plain(account(model));
  assert.ok(told().includes('The controller changed nothing in 1 decision.'), told());
  model.take({record: 'decision', position: 9, action: 'branch', acted: true});
  model.take({record: 'result', answer: 'a', vote_rule: 'majority', votes: null, ledger: {generated: 2000, saved: 1500}});
  assert.ok(told().includes('In 2 decisions the controller branched once.'), told());
  assert.ok(told().includes('1 was cancelled at token 14, when the vote was decided.'), told());
  assert.ok(told().includes('2 of 5 voters say a; 1 says b, 1 says c and 1 says something else.'), told());
  assert.ok(told().includes('2,000 tokens; the early decision saved about 1,500.'), told());
});

test('the account of a run that goes on says how it stands', () => {
  const model = made([['7', 12, 9, 8]]);
  for (const path of [1, 2]) model.take({record: 'path', path, parent: null, position: 0, warmup: false});
  model.take({record: 'token', path: 1, position: 0, text: 'a', window_mean: 3});
  assert.deepEqual(plain(account(model)), ['3 paths.', '2 still running.', 'So far 1 of 1 answer says 7.', '13 tokens.']);
  assert.deepEqual(plain(account(modelOf([]))), []);
});

test('a token has the alternatives that other paths wrote after the same text', () => {
  const write = (path, words, from = 0) => words.map((text, i) =>
      ({record: 'token', path, position: from + i, token: text === 'So' ? 2 : 3, text, logprob: -1, routes: 1}));
  const open = (path, parent = null, position = 0) => ({record: 'path', path, parent, position, warmup: false});
  const model = modelOf([
    open(0), open(1), open(2), ...write(0, ['So', ' x', '=1']), ...write(1, ['So', ' y', '=1']),
    ...write(2, ['Or']), open(3, 0, 2), ...write(3, ['=22'], 2),
    {record: 'decision', position: 3, readings: [{path: 0, top: [[2, Math.log(0.5)], [99, Math.log(0.25)]]}]}]);
  const at = (id, i) => plain(sameTextBefore(model, id)(i));
  assert.deepEqual(at(0, 0), [['So', 3], ['Or', 1]]);
  assert.deepEqual(at(0, 1), [[' x', 2], [' y', 1]]);
  assert.deepEqual(at(0, 2), [['=1', 1], ['=22', 1]], 'a fork shares what it inherited');
  assert.deepEqual(at(1, 2), [['=1', 1]], 'other text before');
  const probable = plain(probableAt(model, 0, 2));
  assert.deepEqual(probable.map(([text, share]) => [text, share.toFixed(2)]), [['So', '0.50'], ['#99', '0.25']],
                   'a token that the run never wrote is a number');
  assert.deepEqual(plain(probableAt(model, 0, 1)), []);
  assert.deepEqual(plain(probableAt(model, 1, 2)), []);
});

test('a text is parted into reasoning and answer', () => {
  const parts = (text, opened) => plain(textParts(text, opened));
  assert.deepEqual(parts('<think>\na b\n</think>\n\nIt is 5.', false), {reasoning: 'a b\n', answer: 'It is 5.', at: 22});
  assert.deepEqual(parts('a b</think>5', true), {reasoning: 'a b', answer: '5', at: 11});
  assert.deepEqual(parts('a b', true), {reasoning: 'a b', answer: '', at: 3});
  assert.deepEqual(parts('It is 5.', false), {reasoning: '', answer: 'It is 5.', at: 0});
});

test('window means are found by position', () => {
  const model = made([['7', 12, 9, 8]]);
  model.take({record: 'curve', path: 0, position: 3, window_mean: 6});
  model.take({record: 'curve', path: 0, position: 11, window_mean: 7});
  const path = model.paths.get(0);
  assert.deepEqual([2, 3, 10, 11, 12].map((position) => path.meanAt(position)), [null, 6, 6, 7, null]);
  assert.equal(model.runningAt(11), 1);
  assert.equal(model.runningAt(12), 0);
});
