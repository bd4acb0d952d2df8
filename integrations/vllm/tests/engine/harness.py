"""A vLLM engine in this process with the add-on, and the oracle of the committed goldens."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before vLLM is imported. In this process, so that tests can look inside and break things.
os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "HF_HUB_OFFLINE": "1",
    "TORCHDYNAMO_DISABLE": "1",  # the sampler compiles C++ at its first use
    "OMP_NUM_THREADS": "1",
}

import numpy as np
import torch
from vllm import LLM, SamplingParams

ROOT = Path(__file__).resolve().parents[4]
MODEL = ROOT / "models/tinymath/tinymath-moe-6m-f16.gguf"
sys.path.insert(0, str(ROOT / "tests/goldens"))
import single_token_goldens as goldens  # noqa: E402

ROWS = 48
SCRATCH = ROWS
BLOCKS = SCRATCH + 44
BLOCK_SIZE = 32


def make_llm(checkpoint: str, **changes: Any) -> LLM:
    """A small engine: chunks of 112 tokens and 44 blocks, so that both limits are met in tests."""
    flags: dict[str, Any] = dict(
        dtype="float32",
        enforce_eager=True,
        seed=0,
        block_size=BLOCK_SIZE,
        max_model_len=512,
        max_num_seqs=64,
        max_num_active_seqs=16,
        max_num_batched_tokens=160,
        max_num_scheduled_tokens=112,
        max_logprobs=-1,
        num_gpu_blocks_override=BLOCKS,
        worker_cls="vllm_hyper.CPUWorker",
        scheduler_cls="vllm_hyper.Scheduler",
        logits_processors=["vllm_hyper:SpecCheck"],
        additional_config={"hyper": {"rows": ROWS}},
    )
    return LLM(checkpoint, **(flags | changes))


def refine(routes: int, **more: Any) -> dict[str, Any]:
    """The spec of the goldens."""
    return {"hyper_k": routes, "hyper_key": goldens.PATH_KEY} | more


@dataclass
class Reply:
    tokens: list[int]
    logprobs: np.ndarray  # [tokens, V], as reported to clients
    cached: int


@dataclass
class Ask:
    prompt: Sequence[int]
    count: int
    spec: dict[str, Any] | None = None
    salt: str | None = None
    seed: int | None = None  # draws; without one the most probable token is taken


class Engine:
    def __init__(self, llm: LLM):
        self.llm = llm
        self.core = llm.llm_engine.engine_core.engine_core
        self.scheduler = self.core.scheduler
        self.runner = self.core.model_executor.driver_worker.worker.model_runner

    def params(self, ask: Ask, **more: Any) -> SamplingParams:
        return SamplingParams(
            temperature=0 if ask.seed is None else 1,
            seed=ask.seed,
            max_tokens=ask.count,
            logprobs=-1,
            ignore_eos=True,
            detokenize=False,
            extra_args=ask.spec,
            **more,
        )

    def prompt(self, ask: Ask) -> dict[str, Any]:
        prompt: dict[str, Any] = {"prompt_token_ids": list(ask.prompt)}
        return prompt | ({"cache_salt": ask.salt} if ask.salt else {})

    def together(self, asks: Sequence[Ask]) -> list[Reply]:
        outputs = self.llm.generate(
            [self.prompt(ask) for ask in asks],
            [self.params(ask) for ask in asks],
            use_tqdm=False,
        )
        return [reply(output) for output in outputs]

    def one(self, *arguments: Any, **named: Any) -> Reply:
        return self.together([Ask(*arguments, **named)])[0]

    def forget(self) -> bool:
        """Empties the prefix cache; false where some block is still in use."""
        return self.scheduler.reset_prefix_cache()

    def stats(self) -> dict[str, int]:
        return self.llm.collective_rpc("hyper_statistics")[0]

    @contextmanager
    def recorded(self) -> Iterator[dict[int, list[np.ndarray]]]:
        """Expert ids that vLLM used for one refined request: position -> layers of [K, m]."""
        from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner

        from vllm_hyper.step import CURRENT

        seen: dict[int, list[np.ndarray]] = {}

        def record(ids: torch.Tensor) -> None:
            step = CURRENT.step
            if step is not None:
                [group] = step.plan.groups
                seen.setdefault(group.candidate.position, []).append(ids[step.tokens[0]].numpy())

        routers = [m.router for m in self.runner.model.modules() if isinstance(m, MoERunner)]
        for router in routers:
            router.set_capture_fn(record)
        try:
            yield seen
        finally:
            for router in routers:
                router.set_capture_fn(None)


def reply(output: Any) -> Reply:
    [completion] = output.outputs
    rows = [
        [entry.logprob for _, entry in sorted(position.items())] for position in completion.logprobs
    ]
    return Reply(list(completion.token_ids), np.array(rows), output.num_cached_tokens or 0)


class Oracle:
    """SingleToken in PyTorch, written from the paper (tests/goldens/single_token_goldens.py)."""

    def __init__(self) -> None:
        torch.set_grad_enabled(False)
        self.model = goldens.Model(MODEL)
        self.known: list[int] = []  # tokens whose clean keys and values are in `cache`
        self.cache = self.model.empty_cache()

    def step(self, history: Sequence[int], routes: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [K, V] behind `history`, and the scores; what is known is not computed again."""
        common = 0
        limit = min(len(self.known), len(history) - 1)
        while common < limit and self.known[common] == history[common]:
            common += 1
        self.known = list(history[:common])
        self.cache = [(k[:common], v[:common]) for k, v in self.cache]
        for position in range(common, len(history)):
            last = position + 1 == len(history)
            token = history[position]
            out = self.model.step(token, position, routes if last else 1, 0, self.cache)
            self.known.append(token)
        return out

    def follow(
        self, prompt: Sequence[int], tokens: Sequence[int], routes: int
    ) -> Iterator[tuple[int, np.ndarray, torch.Tensor]]:
        """Position, log-probabilities [V] and scores [layers, K, E] of every token refined."""
        for i in range(len(tokens)):
            history = [*prompt, *tokens[:i]]
            logits, scores = self.step(history, routes)
            yield len(history) - 1, goldens.aggregate(logits).numpy(), scores


@dataclass
class Run:
    """A run of single_token.bin."""

    routes: int
    prompt: list[int]
    tokens: list[int]
    logprobs: np.ndarray  # [tokens, V], in steps of 1/1600; -inf where the file has no value
    experts: np.ndarray  # [tokens, layers, K], see the head of single_token_goldens.py


def committed_runs() -> list[Run]:
    data = (ROOT / "tests/goldens/single_token.bin").read_bytes()
    head = struct.Struct("<4sIddQIIII")
    _, _, _, _, key, layers, _, vocabulary, count = head.unpack_from(data)
    assert key == goldens.PATH_KEY
    at = head.size
    runs = []
    for _ in range(count):
        variant, routes, prompt, tokens = struct.unpack_from("<IIII", data, at)
        at += 16
        ids = np.frombuffer(data, "<i4", prompt + tokens, at).tolist()
        at += 4 * (prompt + tokens)
        row = np.dtype([("p", "<u2", vocabulary), ("experts", "<u4", (layers, routes))])
        rows = np.frombuffer(data, row, tokens, at)
        at += tokens * row.itemsize
        if variant == 0:
            steps = rows["p"].astype(np.float64)
            logprobs = np.where(steps == 65535, -np.inf, -steps * goldens.STEP)
            runs.append(Run(routes, ids[:prompt], ids[prompt:], logprobs, rows["experts"]))
    assert at == len(data)
    return runs
