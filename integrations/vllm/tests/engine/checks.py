"""What must hold; each one raises AssertionError where it does not. Tests and faults call them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from harness import ROWS, Ask, Engine, Oracle, Reply, Run, refine

NEAR = 1e-4  # between two ways of vLLM to compute the same
CLOSE = 1e-3  # between vLLM and the oracle
SHORT_OF_BLOCKS = 20  # that are left where requests are to be preempted
MARGIN = 1e-4  # two router scores that are closer may change places


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())


def same(a: Reply, b: Reply) -> None:
    assert a.tokens == b.tokens
    assert worst(a.logprobs, b.logprobs) <= NEAR


def check_no_noise_is_plain(engine: Engine, prompt: Sequence[int]) -> None:
    plain = engine.one(prompt, 20)
    before = engine.stats()["refined_tokens"]
    same(engine.one(prompt, 20, refine(4, hyper_tau=0.0, hyper_lambda=0.0)), plain)
    assert engine.stats()["refined_tokens"] - before == 20
    one = engine.one(prompt, 20, refine(1))
    assert one.tokens == plain.tokens and np.array_equal(one.logprobs, plain.logprobs)


def check_seeds(engine: Engine, prompts: Sequence[Sequence[int]]) -> None:
    """A seed draws the same tokens where nothing is changed, however a prompt is cut."""
    long = [token for prompt in prompts for token in prompt]
    assert len(long) > 112  # two chunks
    for prompt in (prompts[0], long):
        assert engine.forget()
        plain = engine.one(prompt, 20, seed=7)
        assert engine.forget()
        same(engine.one(prompt, 20, refine(4, hyper_tau=0.0, hyper_lambda=0.0), seed=7), plain)
        assert engine.one(prompt, 20, refine(4), seed=8).tokens != plain.tokens


def check_experts(scores: np.ndarray, ids: np.ndarray) -> int:
    """Compares chosen experts [K, m] of a layer with scores [K, E]; rows that are no near-tie."""
    used, compared = ids.shape[-1], 0
    for row, chosen in zip(scores, ids, strict=True):
        order = np.argsort(-row, kind="stable")
        if row[order[used - 1]] - row[order[used]] > MARGIN:
            assert set(order[:used].tolist()) == set(chosen.tolist())
            compared += 1
    return compared


def check_oracle(
    engine: Engine, oracle: Oracle, prompt: Sequence[int], routes: int, count: int
) -> None:
    """Log-probabilities and experts of every layer and route, in one long reply."""
    with engine.recorded() as experts:
        reply = engine.one(prompt, count, refine(routes))
    assert sorted(experts) == list(range(len(prompt) - 1, len(prompt) - 1 + count))
    compared = 0
    followed = oracle.follow(prompt, reply.tokens, routes)
    for i, (position, logprobs, scores) in enumerate(followed):
        assert worst(reply.logprobs[i], logprobs) <= CLOSE, f"position {position}"
        assert len(experts[position]) == len(scores)
        for layer, ids in zip(scores.numpy(), experts[position], strict=True):
            compared += check_experts(layer, ids)
    assert compared > 0.95 * count * len(scores) * routes


def check_committed(engine: Engine, run: Run) -> None:
    """Every third token of a committed run as the first one of a request of its own."""
    places = range(0, len(run.tokens), 3)
    at_once = ROWS // (run.routes - 1)
    for first in range(0, len(places), at_once):
        some = places[first : first + at_once]
        asks = [Ask(run.prompt + run.tokens[:i], 1, refine(run.routes)) for i in some]
        for i, reply in zip(some, engine.together(asks), strict=True):
            known = np.isfinite(run.logprobs[i])
            assert worst(reply.logprobs[0][known], run.logprobs[i][known]) <= CLOSE


def check_pure(engine: Engine, prompt: Sequence[int]) -> None:
    """Blocks that a refined reply leaves behind are those of plain decoding."""
    reply = engine.one(prompt, 100, refine(4))
    history = [*prompt, *reply.tokens]
    cached = engine.one(history, 1)
    fresh = engine.one(history, 1, None, salt="fresh")
    assert cached.cached >= (len(history) - 1) // 32 * 32 and fresh.cached == 0
    assert worst(cached.logprobs, fresh.logprobs) <= NEAR


def check_block_edges(engine: Engine, oracle: Oracle, history: Sequence[int]) -> None:
    """The first refined token at, before and behind the edge of a block; two tokens each."""
    for position in (30, 31, 32, 33, 62, 63, 64, 65):
        prompt = history[: position + 1]
        reply = engine.one(prompt, 2, refine(4))
        for i, (_, logprobs, _) in enumerate(oracle.follow(prompt, reply.tokens, 4)):
            assert worst(reply.logprobs[i], logprobs) <= CLOSE, f"position {position} + {i}"


def mixed_asks(prompts: Sequence[Sequence[int]]) -> list[Ask]:
    """Long and short prompts, refined in several ways and plain."""
    specs = [refine(4), None, refine(2, hyper_key=99), refine(5, hyper_agg="mean-prob"), None]
    long = [token for prompt in prompts for token in prompt]
    return [
        Ask(long[at : at + length], 16, specs[i % len(specs)])
        for i, (at, length) in enumerate(
            [(0, 250), (3, 20), (40, 130), (7, 33), (60, 200), (11, 64), (90, 119), (5, 5)]
        )
    ]


def check_mixed(engine: Engine, prompts: Sequence[Sequence[int]]) -> None:
    """Chunks of prompts, refined and plain requests in one batch, against each alone."""
    asks = mixed_asks(prompts)
    alone = []
    for ask in asks:
        assert engine.forget()
        alone.append(engine.one(ask.prompt, ask.count, ask.spec))
    assert engine.forget()
    before = engine.stats()
    together = engine.together(asks)
    after = engine.stats()
    assert after["capped_rows"] == before["capped_rows"]
    assert after["forwards"] - before["forwards"] < 3 * asks[0].count  # they did share forwards
    for a, b in zip(alone, together, strict=True):
        same(a, b)


def check_preempted(engine: Engine, prompts: Sequence[Sequence[int]]) -> None:
    """More requests than the KV cache holds, and one that is aborted."""
    asks = [Ask(prompts[i % len(prompts)], 70, refine(3, hyper_key=i + 1)) for i in range(7)]
    alone = [engine.one(ask.prompt, ask.count, ask.spec) for ask in asks]
    assert engine.forget()
    pool = engine.scheduler.kv_cache_manager.block_pool
    held = pool.get_new_blocks(pool.get_num_free_blocks() - SHORT_OF_BLOCKS)
    preemptions = 0
    original = engine.scheduler._preempt_request

    def count(*arguments: object, **named: object) -> None:
        nonlocal preemptions
        preemptions += 1
        original(*arguments, **named)

    engine.scheduler._preempt_request = count
    llm_engine = engine.llm.llm_engine
    try:
        for i, ask in enumerate(asks):
            llm_engine.add_request(f"r{i}", engine.prompt(ask), engine.params(ask))
        llm_engine.add_request("gone", engine.prompt(asks[0]), engine.params(asks[1]))
        finished: dict[str, Reply] = {}
        steps = 0
        while llm_engine.has_unfinished_requests():
            for output in llm_engine.step():
                if output.finished:
                    from harness import reply

                    finished[output.request_id] = reply(output)
            steps += 1
            if steps == 20:
                llm_engine.abort_request(["gone"])
    finally:
        engine.scheduler._preempt_request = original
        pool.free_blocks(held)
    assert preemptions > 0
    for i, lonely in enumerate(alone):
        same(finished[f"r{i}"], lonely)
    assert engine.scheduler.kv_cache_manager.usage == 0
    assert engine.forget()


def check_capped(engine: Engine, prompt: Sequence[int]) -> None:
    """A request that asks for more rows than there are gets those, and it is counted."""
    before = engine.stats()
    capped = engine.one(prompt, 3, refine(ROWS + 11))
    after = engine.stats()
    assert after["capped_rows"] - before["capped_rows"] == 3 * 10
    assert after["peak_rows"] == ROWS
    same(capped, engine.one(prompt, 3, refine(ROWS + 1)))
