#!/usr/bin/env python3
"""SC and HyPER through a real server, beside a plain asynchronous client doing SC at that width.

Starts and stops the server. Needs the package openai; else the standard library only.

    bench/remote/real_servers.py HYPER llama-server PROGRAM MODEL [--width 16] [--runs 3]
    bench/remote/real_servers.py HYPER vllm PYTHON CHECKPOINT [--width 16] [--runs 3]
    bench/remote/real_servers.py HYPER vllm-addon PYTHON CHECKPOINT [--width 16] [--runs 3]

For each of `hyper run` with sc, hyper and hyper --grant T, and for the client: tokens, rows (tokens
times their routes), seconds from the first request for a text to its last token, requests for
texts, tokens and rows per second, and CPU seconds of the whole process (start and probe included),
also per token, and the server's per token. Our share of the time is that CPU over the seconds; at
100 tokens/s in all it is 100 times the CPU per token. Questions take turns; seeds are 1, 2, ...;
medians over the runs. Requests are counted by a proxy in a run of its own. With vLLM's add-on: sc,
the controller without and with refinement, and roe, which refines every token over K routes.
"""

import argparse
import asyncio
import contextlib
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
# The controller without refinement, with it, and every token refined.
ADDON_METHODS = {
    "hyper run, sc": ["--method", "sc"],
    "hyper run, hyper-no-single": ["--method", "hyper-no-single"],
    "hyper run, hyper": ["--method", "hyper"],
    "hyper run, roe, K = 2": ["--method", "roe", "--routes", "2", "--weights", "noisy"],
    "hyper run, roe, K = 4": ["--method", "roe", "--routes", "4", "--weights", "noisy"]}
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


def server_cpu():
    """CPU seconds so far of all processes below this one, which are the server's."""
    parent, ticks = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            parent[int(path.parent.name)] = int(fields[1])
            ticks[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    below = {os.getpid()}
    for _ in parent:  # at most as many generations as processes
        more = {child for child, above in parent.items() if above in below} - below
        if not more:
            break
        below |= more
    return sum(ticks[pid] for pid in below - {os.getpid()}) / os.sysconf("SC_CLK_TCK")


def measured(command):
    """Standard output of a command, its CPU seconds, and those of the server meanwhile."""
    server = server_cpu()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed: {result.stderr}")
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.stdout, own, server_cpu() - server


def methods_of(arguments):
    return ADDON_METHODS if arguments.server == "vllm-addon" else METHODS


def hyper_command(arguments, url, method, seed, question):
    return [arguments.hyper, "run", "--json", "--timing", "--preset", "short", "--seed", str(seed),
            "--width", str(arguments.width), "--max-tokens", str(arguments.max_tokens),
            "--temperature", str(TEMPERATURE), *methods_of(arguments)[method], "--engine", url,
            question]


def measure(arguments, root, seed, rows):
    """One run of everything on one question."""
    question = QUESTIONS[seed % len(QUESTIONS)]
    url = root + "/v1"
    run = {}
    for method in methods_of(arguments):
        out, cpu, server = measured(hyper_command(arguments, url, method, seed, question))
        run = json.loads(out)
        rows.setdefault(method, []).append(
            (run["ledger"]["generated"], run["timing"]["wall_s"], cpu, run["ledger"]["effective"],
             server))
    out, cpu, server = measured([sys.executable, *sys.argv, "--client", url, run["model"]["name"],
                                 run["prompt"], str(seed)])
    told = json.loads(out)
    rows.setdefault("plain client, sc", []).append(
        (told["tokens"], told["seconds"], cpu, told["tokens"], server))


def count_requests(arguments, root):
    """Requests for streamed texts in a run with seed 1, by method."""
    counts = {"plain client, sc": arguments.width}
    for method in methods_of(arguments):
        with recorder.recording(root) as proxy:
            measured(hyper_command(arguments, proxy.root + "/v1", method, 1, QUESTIONS[1]))
        counts[method] = sum(1 for exchange in proxy.exchanges
                             if (exchange["request"] or {}).get("stream"))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("server", choices=("llama-server", "vllm", "vllm-addon"))
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
    if arguments.server == "llama-server":
        server = servers.llama_server(arguments.program, arguments.model, arguments.width, 1024)
    else:
        server = servers.vllm_server(arguments.program, arguments.model,
                                     addon=arguments.server == "vllm-addon")
    rows = {}
    with server as root:
        print(f"{servers.version(arguments.server, root)}, {os.cpu_count()} cores, width"
              f" {arguments.width}, seeds 1 to {arguments.runs}; medians")
        for seed in range(1, arguments.runs + 1):
            measure(arguments, root, seed, rows)
        requests = count_requests(arguments, root)
    print("| | tokens | rows | s | requests | tokens/s | rows/s | CPU s | CPU us a token | share"
          " | at 100/s | server's CPU us a token |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, runs in rows.items():
        tokens, seconds, cpu, made, server = (statistics.median(values) for values in zip(*runs))
        print(f"| {name} | {tokens:.0f} | {made:.0f} | {seconds:.2f} | {requests[name]}"
              f" | {tokens / seconds:.0f} | {made / seconds:.0f} | {cpu:.2f}"
              f" | {1e6 * cpu / tokens:.0f} | {100 * cpu / seconds:.1f} % |"
              f" {100 * 100 * cpu / tokens:.2f} % | {1e6 * server / tokens:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
