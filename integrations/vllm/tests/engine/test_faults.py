"""Faults that the checks must notice. Each one is made on purpose, and its check must fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import checks
import pytest
import torch
from harness import Engine, Oracle

import vllm_hyper.runner as runner_module
from vllm_hyper.layers import HyperLogits
from vllm_hyper.plan import Plan
from vllm_hyper.runner import RefinedRows
from vllm_hyper.step import CURRENT, Step


@contextmanager
def broken(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What is patched inside is undone, and nothing that it wrote stays cached."""
    assert engine.forget()
    with monkeypatch.context() as patch:
        yield patch
    assert engine.forget()


def test_rows_without_keys_and_values_of_their_own(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variant A0: the root's block table, and nothing written."""
    write_rows = RefinedRows._hyper_write_rows

    def without(self: Any, plan: Plan) -> None:
        write_rows(self, plan)
        for table in self.input_batch.block_table.block_tables:
            table.slot_mapping.gpu[plan.tokens : plan.tokens + plan.count] = -1

    with broken(engine, monkeypatch) as patch:
        patch.setattr(RefinedRows, "_hyper_write_rows", without)
        patch.setattr(
            runner_module,
            "block_row",
            lambda root, position, size, _: list(root)[: position // size + 1],
        )
        with pytest.raises(AssertionError, match="position"):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_positions_not_written_again(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def zeroed(self: Any, *arguments: Any) -> Any:
        return super(RefinedRows, self)._preprocess(*arguments)

    with broken(engine, monkeypatch) as patch:
        patch.setattr(RefinedRows, "_preprocess", zeroed)
        with pytest.raises(AssertionError, match="position"):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_blocks_not_copied(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with broken(engine, monkeypatch) as patch:
        patch.setattr(runner_module, "copy_kv_cache_blocks_inplace", lambda *_: None)
        with pytest.raises(AssertionError, match="position"):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_a_route_writes_where_the_root_does(
    engine: Engine, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pollutes the cache."""
    write_rows = RefinedRows._hyper_write_rows

    def polluting(self: Any, plan: Plan) -> None:
        write_rows(self, plan)
        for table in self.input_batch.block_table.block_tables:
            slots = table.slot_mapping.gpu
            slots[plan.tokens] = slots[plan.groups[0].candidate.token]

    with broken(engine, monkeypatch) as patch:
        patch.setattr(RefinedRows, "_hyper_write_rows", polluting)
        with pytest.raises(AssertionError):
            checks.check_pure(engine, prompts[2])


def test_aggregated_after_the_reported_logprobs(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients would see those of route 0, though the token is drawn from the aggregate."""
    aggregate = Step.aggregate
    kept: list[torch.Tensor] = []

    def later(self: Step, logits: torch.Tensor) -> torch.Tensor:
        kept.append(aggregate(self, logits))
        return logits[: self.plan.requests]

    sample = engine.runner.sampler.sample

    def drawn(logits: torch.Tensor, *arguments: Any, **named: Any) -> Any:
        return sample(kept.pop() if kept else logits, *arguments, **named)

    with broken(engine, monkeypatch) as patch:
        patch.setattr(Step, "aggregate", later)
        patch.setattr(engine.runner.sampler, "sample", drawn)
        with pytest.raises(AssertionError, match="position"):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_no_aggregation(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_rows(self: Any, *arguments: Any) -> Any:
        logits = super(HyperLogits, self).forward(*arguments)
        step = CURRENT.step
        return logits if step is None else logits[: step.plan.requests]

    with broken(engine, monkeypatch) as patch:
        patch.setattr(HyperLogits, "forward", first_rows)
        with pytest.raises(AssertionError, match="position"):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_noise_of_another_layer(
    engine: Engine, oracle: Oracle, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = Step._noise

    def shifted(self: Step, device: torch.device) -> torch.Tensor:
        return draw(self, device).roll(1, 0)  # the noise of another layer

    with broken(engine, monkeypatch) as patch:
        patch.setattr(Step, "_noise", shifted)
        with pytest.raises(AssertionError):
            checks.check_oracle(engine, oracle, prompts[1], 4, 8)


def test_scratch_blocks_handed_out(
    engine: Engine, prompts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scratch blocks that other requests own: their keys and values are overwritten."""
    block = runner_module.scratch_block
    with broken(engine, monkeypatch) as patch:
        patch.setattr(runner_module, "scratch_block", lambda *numbers: block(*numbers) % 24 + 1)
        with pytest.raises(AssertionError):
            checks.check_mixed(engine, prompts)


def test_the_engine_is_whole_again(
    engine: Engine, oracle: Oracle, prompts: list[list[int]]
) -> None:
    checks.check_oracle(engine, oracle, prompts[1], 4, 8)
    checks.check_pure(engine, prompts[2])
