#!/usr/bin/env python3
"""Throughput and time to the first token of `hyper serve` beside llama-server, plain requests.

Both servers run the same model file with the same number of threads, one at a time, in turns, and
answer the same questions, greedily and streamed. First the outputs are checked: every reply is whole,
and hyper's replies beside each other are what it says alone. Prints the median and the spread over the
rounds for each number of clients.

  bench/server/throughput.py --hyper build/hyper [--llama-server PATH] [--threads 2] [--json FILE]

Short requests show the cost of a request, and --store that of keeping it:

  bench/server/throughput.py --hyper build/hyper --tokens 4 --requests 8 [--store]

llama-server is tools/server of the pinned llama.cpp tree (docs/building.md); without it only hyper is
measured. Needs nothing but Python's standard library.
"""

import argparse
import asyncio
import json
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "models/tinymath/tinymath-moe-6m-f16.gguf"
QUESTIONS = sorted((ROOT / "models/tinymath/suite").glob("evaluation-level*.jsonl"))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A running server; `model` is the name that requests give."""

    def __init__(self, command, port, model):
        self.port = port
        self.model = model
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{command[0]} does not start") from None
                time.sleep(0.1)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


def start(name, args, clients):
    port = free_port()
    cells = clients * args.context
    if name == "hyper":
        command = [args.hyper, "serve", "--model", str(args.model), "--port", str(port), "--name", "m",
                   "--threads", str(args.threads), "--ctx", str(cells), "--lanes", str(clients + 8)]
        if args.store:
            command += ["--store", str(pathlib.Path(args.folder) / f"runs-{port}.db")]
        return Server(command, port, "m:plain")
    command = [args.llama_server, "--model", str(args.model), "--port", str(port), "--threads",
               str(args.threads), "--ctx-size", str(cells), "--parallel", str(clients), "--no-webui"]
    return Server(command, port, "m")


async def ask(server, question, tokens):
    """Text, completion tokens, seconds to the first token and to the end of one streamed reply."""
    body = json.dumps({"model": server.model, "temperature": 0, "max_tokens": tokens, "stream": True,
                       "stream_options": {"include_usage": True},
                       "messages": [{"role": "user", "content": question}]}).encode()
    begin = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                 b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    first, text, usage, done = None, "", None, False
    async for line in reader:
        line = line.strip()
        if not line.startswith(b"data: "):
            continue
        if line == b"data: [DONE]":
            done = True
            break
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        for choice in event["choices"]:
            part = (choice["delta"].get("reasoning_content") or "") + (choice["delta"].get("content") or "")
            if part and first is None:
                first = time.monotonic() - begin
            text += part
    writer.close()
    if not done or usage is None or first is None:
        raise RuntimeError(f"a reply is not whole: {text!r}")
    return text, usage["completion_tokens"], first, time.monotonic() - begin


async def load(server, questions, clients, tokens):
    """Each client asks its share of the questions, one after the other. All replies, and the seconds."""
    waiting = list(enumerate(questions))
    replies = [None] * len(questions)

    async def client():
        while waiting:
            number, question = waiting.pop(0)
            replies[number] = await ask(server, question, tokens)

    begin = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    return replies, time.monotonic() - begin


def letters(text):
    """What was said but for the border of the reasoning, where llama-server may leave tags and white space."""
    return "".join(text.replace("<think>", "").replace("</think>", "").split())


def check(args, questions):
    """Outputs first: what is said alone and beside others, and by both servers."""
    some = questions[:8]
    said = {}
    for name in args.servers:
        server = start(name, args, 8)
        try:
            alone = [reply[0] for reply in asyncio.run(load(server, some, 1, args.tokens))[0]]
            beside = [reply[0] for reply in asyncio.run(load(server, some, 8, args.tokens))[0]]
        finally:
            server.stop()
        same = sum(a == b for a, b in zip(alone, beside))
        print(f"{name}: {same} of {len(some)} greedy replies beside each other are those alone")
        if name == "hyper" and same != len(some):
            sys.exit("hyper's replies depend on what else is asked")
        said[name] = alone
    if len(said) == 2:
        same = sum(letters(a) == letters(b) for a, b in zip(*said.values()))
        print(f"{same} of {len(some)} greedy replies are the same text in both servers")
        if same * 2 < len(some):
            print(*(text for pair in zip(*said.values()) for text in pair), sep="\n--\n", file=sys.stderr)
            sys.exit("the servers do not decode the same model in the same way")


def measure(args, name, clients, questions):
    server = start(name, args, clients)
    try:
        # Warm with other questions than those measured: both servers keep prompts that they have seen.
        asyncio.run(load(server, questions[-clients:], clients, 8))
        replies, seconds = asyncio.run(load(server, questions[: args.requests * clients], clients, args.tokens))
    finally:
        server.stop()
    tokens = sum(reply[1] for reply in replies)
    return tokens / seconds, statistics.median(reply[2] for reply in replies), len(replies) / seconds


def spread(values, form):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))} to {form.format(max(values))})"


def compare(args, questions):
    check(args, questions)
    figures = []
    print("| clients | server | tokens/s | requests/s | median time to the first token, ms |\n|---|---|---|---|---|")
    for clients in args.clients:
        runs = {name: [] for name in args.servers}
        for _ in range(args.rounds):  # in turns, so that a busy machine hits both
            for name in args.servers:
                runs[name].append(measure(args, name, clients, questions))
        for name, values in runs.items():
            speeds = [value[0] for value in values]
            firsts = [value[1] * 1000 for value in values]
            requests = [value[2] for value in values]
            figures.append({"clients": clients, "server": name, "tokens_per_s": speeds, "requests_per_s": requests,
                            "first_token_ms": firsts})
            print(f"| {clients} | {name} | {spread(speeds, '{:.0f}')} | {spread(requests, '{:.1f}')} | "
                  f"{spread(firsts, '{:.1f}')} |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hyper", default=str(ROOT / "build/hyper"))
    parser.add_argument("--llama-server")
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--questions", type=pathlib.Path, nargs="+", default=QUESTIONS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--requests", type=int, default=4, help="of each client")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--context", type=int, default=512, help="cells for each client")
    parser.add_argument("--store", action="store_true", help="hyper keeps its runs in a file")
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures here")
    args = parser.parse_args()
    args.servers = ["hyper"] + (["llama-server"] if args.llama_server else [])
    questions = [json.loads(line)["question"] for path in args.questions for line in open(path)]
    if len(questions) < (args.requests + 1) * max(args.clients):
        parser.error(f"{len(questions)} questions are too few for {max(args.clients)} clients with "
                     f"{args.requests} requests each and as many to warm up: give fewer --requests")
    with tempfile.TemporaryDirectory() as args.folder:
        compare(args, questions)


if __name__ == "__main__":
    main()
