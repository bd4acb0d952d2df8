#!/usr/bin/env python3
"""SC and HyPER through a real server, beside a plain asynchronous client doing SC at that width.

Starts and stops the server. Needs the package openai; else the standard library only.

    bench/remote/real_servers.py HYPER llama-server PROGRAM MODEL [--width 16] [--runs 3]
    bench/remote/real_servers.py HYPER vllm PYTHON CHECKPOINT [--width 16] [--runs 3]

For each of `hyper run` with sc, hyper and hyper --grant T, and for the client: tokens, seconds from
the first request for a text to its last token, requests for texts, tokens per second, and CPU
seconds of the whole process (start and probe included), also per token. Our share of the time is
that CPU over the seconds; at 100 tokens/s in all it is 100 times the CPU per token. Questions take
turns; seeds are 1, 2, ...; medians over the runs. Requests are counted by a proxy in a run of its
own.
"""

import argparse
import asyncio
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import openai

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "remote"))
import recorder  # noqa: E402
import servers  # noqa: E402

QUESTIONS = ("Ben has 44 boxes with 23 books each and gives away 73. How many are left?",
             "What is the remainder of 17*10+33 divided by 11?",
             "Jack has 3 crates with 21 books each. Jack gives away 12. How many books does Jack"
             " have now?")
METHODS = {"hyper run, sc": ["--method", "sc"], "hyper run, hyper": ["--method", "hyper"],
           "hyper run, hyper --grant 8": ["--method", "hyper", "--grant", "8"]}
TEMPERATURE = 0.8


async def one_text(client, model, prompt, seed, max_tokens):
    """Tokens of one streamed text, as the server counts them."""
    stream = await client.completions.create(
        model=model, prompt=prompt, max_tokens=max_tokens, stream=True, logprobs=20, seed=seed,
        temperature=TEMPERATURE, top_p=1.0, stream_options={"include_usage": True},
        extra_body={"top_k": -1, "min_p": 0})
    tokens = 0
    async for chunk in stream:
        tokens = chunk.usage.completion_tokens if chunk.usage else tokens
    return tokens


async def many_texts(arguments, url, model, prompt, seed):
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=600)
    begin = time.perf_counter()
    counts = await asyncio.gather(*(
        one_text(client, model, prompt, seed * 1000 + number, arguments.max_tokens)
        for number in range(arguments.width)))
    return sum(counts), time.perf_counter() - begin


def client_process(arguments):
    """The plain client as a process of its own, so that its CPU can be told."""
    url, model, prompt, seed = arguments.client
    tokens, seconds = asyncio.run(many_texts(arguments, url, model, prompt, int(seed)))
    print(json.dumps({"tokens": tokens, "seconds": seconds}))


def measured(command):
    """Standard output of a command, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed: {result.stderr}")
    return result.stdout, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def hyper_command(arguments, url, method, seed, question):
    return [arguments.hyper, "run", "--json", "--timing", "--preset", "short", "--seed", str(seed),
            "--width", str(arguments.width), "--max-tokens", str(arguments.max_tokens),
            "--temperature", str(TEMPERATURE), *METHODS[method], "--engine", url, question]


def measure(arguments, root, seed, rows):
    """One run of everything on one question."""
    question = QUESTIONS[seed % len(QUESTIONS)]
    url = root + "/v1"
    run = {}
    for method in METHODS:
        out, cpu = measured(hyper_command(arguments, url, method, seed, question))
        run = json.loads(out)
        rows.setdefault(method, []).append(
            (run["ledger"]["generated"], run["timing"]["wall_s"], cpu))
    out, cpu = measured([sys.executable, *sys.argv, "--client", url, run["model"]["name"],
                         run["prompt"], str(seed)])
    told = json.loads(out)
    rows.setdefault("plain client, sc", []).append((told["tokens"], told["seconds"], cpu))


def count_requests(arguments, root):
    """Requests for streamed texts in a run with seed 1, by method."""
    counts = {"plain client, sc": arguments.width}
    for method in METHODS:
        with recorder.recording(root) as proxy:
            measured(hyper_command(arguments, proxy.root + "/v1", method, 1, QUESTIONS[1]))
        counts[method] = sum(1 for exchange in proxy.exchanges
                             if (exchange["request"] or {}).get("stream"))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("server", choices=("llama-server", "vllm"))
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--client", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        client_process(arguments)
        return 0
    start = servers.vllm_server if arguments.server == "vllm" else servers.llama_server
    settings = () if arguments.server == "vllm" else (arguments.width, 1024)
    rows = {}
    with start(arguments.program, arguments.model, *settings) as root:
        print(f"{servers.version(arguments.server, root)}, {os.cpu_count()} cores, width"
              f" {arguments.width}, seeds 1 to {arguments.runs}; medians")
        for seed in range(1, arguments.runs + 1):
            measure(arguments, root, seed, rows)
        requests = count_requests(arguments, root)
    print("| | tokens | s | requests | tokens/s | CPU s | CPU us a token | share | at 100/s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, runs in rows.items():
        tokens, seconds, cpu = (statistics.median(values) for values in zip(*runs))
        print(f"| {name} | {tokens:.0f} | {seconds:.2f} | {requests[name]} | {tokens / seconds:.0f}"
              f" | {cpu:.2f} | {1e6 * cpu / tokens:.0f} | {100 * cpu / seconds:.1f} % |"
              f" {100 * 100 * cpu / tokens:.2f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
