"""The same through `vllm serve`: flags, endpoints, refused requests, refused starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import ROOT, committed_runs, refine

sys.path.insert(0, str(ROOT / "tests/remote"))
import servers  # noqa: E402

FLAGS = [
    *("--served-model-name", "tinymath", "--dtype", "float32", "--enforce-eager"),
    *("--max-model-len", "1024", "--max-logprobs", "20"),
    *servers.ADDON_FLAGS,
]
ENVIRONMENT = os.environ | {
    "VLLM_PLUGINS": "hyper",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
}


def command(checkpoint: Path, flags: list[str], *more: str) -> list[str]:
    # What `vllm serve` runs; the program itself is missing where vLLM is installed as vllm-cpu.
    start = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(checkpoint)]
    return [*start, *flags, *more]


@contextmanager
def serving(checkpoint: Path, *more: str) -> Iterator[str]:
    port = servers.free_port()
    root = f"http://127.0.0.1:{port}"
    started = command(checkpoint, FLAGS, "--host", "127.0.0.1", "--port", str(port), *more)
    with servers.running(started, ENVIRONMENT, root + "/health"):
        yield root


@pytest.fixture(scope="module")
def url(checkpoint: Path) -> Iterator[str]:
    with serving(checkpoint) as root:
        yield root


def complete(url: str, **more: Any) -> dict[str, Any]:
    body = {
        "model": "tinymath",
        "prompt": committed_runs()[0].prompt,
        "max_tokens": 6,
        "temperature": 0,
        "logprobs": 9,
        "ignore_eos": True,
        **more,
    }
    answer: dict[str, Any] = servers.post(url + "/v1/completions", body)
    return answer["choices"][0]


def test_capabilities(url: str) -> None:
    assert servers.get(url + "/hyper/capabilities") == {
        "routing": True,
        "max_routes": servers.ADDON_ROWS + 1,
        "max_extra_rows": servers.ADDON_ROWS,
        "layers": 6,
        "experts": 16,
        "experts_used": 4,
        "weights": ["noisy"],
        "version": "0.1.0",
    }


def test_refined_over_http_and_counted(url: str) -> None:
    before = servers.get(url + "/hyper/stats")
    plain = complete(url)
    refined = complete(url, vllm_xargs=refine(4))
    after = servers.get(url + "/hyper/stats")
    assert after["refined_tokens"] - before["refined_tokens"] == 6
    assert after["route_rows"] - before["route_rows"] == 6 * 3
    assert after["capped_rows"] == 0
    # The committed run tells what the first token's distribution is.
    run = next(run for run in committed_runs() if run.routes == 4)
    wanted = sorted(run.logprobs[0])[::-1][:9]
    found = sorted(refined["logprobs"]["top_logprobs"][0].values())[::-1][:9]
    assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 1e-3
    first = sorted(plain["logprobs"]["top_logprobs"][0].values())[::-1][:9]
    assert max(abs(a - b) for a, b in zip(first, wanted, strict=True)) > 1e-3


def test_a_refined_request_with_a_seed(url: str) -> None:
    first, again = (
        complete(url, vllm_xargs=refine(4), temperature=1, seed=11)["text"] for _ in range(2)
    )
    assert first == again


@pytest.mark.parametrize(
    "spec, reason",
    [
        ({"hyper_k": 4}, "hyper_key is missing"),
        ({"hyper_k": 1000, "hyper_key": 1}, "hyper_k is 1000"),
        ({"hyper_k": 2, "hyper_key": 1, "hyper_weights": "clean"}, "only noisy"),
        ({"hyper_routes": 2}, "hyper_routes is unknown"),
    ],
)
def test_a_wrong_spec_is_refused(url: str, spec: dict[str, Any], reason: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        complete(url, vllm_xargs=spec)
    assert caught.value.code == 400
    assert reason in caught.value.read().decode()


def test_keys_of_64_bits_arrive_whole(url: str) -> None:
    top = complete(url, vllm_xargs=refine(3, hyper_key=2**64 - 1))
    text = complete(url, vllm_xargs=refine(3, hyper_key=str(2**64 - 1)))
    other = complete(url, vllm_xargs=refine(3, hyper_key=2**64 - 2))
    assert top["logprobs"] == text["logprobs"]
    assert top["logprobs"] != other["logprobs"]


@pytest.mark.parametrize(
    "drop, reason",
    [
        ("--logits-processors", "add --logits-processors vllm_hyper:SpecCheck"),
        ("--max-num-active-seqs", "leaves room for 0 extra rows, not for 48"),
    ],
)
def test_a_server_that_cannot_refine_does_not_start(
    checkpoint: Path, drop: str, reason: str
) -> None:
    at = FLAGS.index(drop)
    flags = FLAGS[:at] + FLAGS[at + 2 :]
    done = subprocess.run(
        command(checkpoint, flags, "--port", str(servers.free_port())),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode != 0
    assert reason in done.stdout + done.stderr


def check_two_ranks(url: str) -> None:
    """Every tenth token of the committed runs, refined."""
    compared = 0
    for run in committed_runs():
        for i in range(0, len(run.tokens), 10):
            reply = complete(
                url,
                prompt=run.prompt + run.tokens[:i],
                max_tokens=1,
                vllm_xargs=refine(run.routes),
            )
            found = sorted(reply["logprobs"]["top_logprobs"][0].values())[::-1][:9]
            wanted = sorted(run.logprobs[i])[::-1][:9]
            assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 1e-3
            compared += 1
    assert compared > 10
    stats = servers.get(url + "/hyper/stats")
    assert stats["refined_tokens"] == compared and stats["capped_rows"] == 0


def test_two_ranks(checkpoint: Path) -> None:
    """Tensor parallelism over gloo: both ranks draw the same noise, and so the same experts."""
    with serving(checkpoint, "--tensor-parallel-size", "2") as root:
        check_two_ranks(root)
