"""Refinement inside a real vLLM on the CPU with the bundled model."""

from __future__ import annotations

import checks
import pytest
from harness import Engine, Oracle, Run


def test_no_noise_is_plain_decoding(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_no_noise_is_plain(engine, prompts[0])


def test_seeds(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_seeds(engine, prompts)


@pytest.mark.parametrize("routes, count", [(2, 20), (4, 60), (8, 20)])
def test_equals_the_oracle(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], routes: int, count: int
) -> None:
    checks.check_oracle(engine, oracle, prompts[1], routes, count)


def test_equals_the_committed_runs(engine: Engine, runs: list[Run]) -> None:
    assert {run.routes for run in runs} == {2, 4, 8}
    for routes in (2, 4, 8):
        checks.check_committed(engine, next(run for run in runs if run.routes == routes))


def test_cached_blocks_are_pure(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_pure(engine, prompts[2])


def test_edges_of_blocks(engine: Engine, oracle: Oracle, runs: list[Run]) -> None:
    checks.check_block_edges(engine, oracle, runs[0].prompt + runs[0].tokens)


def test_mixed_batches(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_mixed(engine, prompts)


def test_preemption_and_abort(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_preempted(engine, prompts)


def test_more_rows_than_room(engine: Engine, prompts: list[list[int]]) -> None:
    checks.check_capped(engine, prompts[0])
