#!/usr/bin/env python3
"""Many clients of one `hyper serve`, of which some leave in the middle: plain requests, streams, pools
and calls of functions, with runs changed and deleted.

At the end nothing may be lost: each run whose id a client knows is stored once, with its end, unless it
was deleted; no request has failed. And nothing may be left: no run, no lane or cell but those of kept
prompts, no connection, no thread. Prints how long requests waited for their run to start, and the worst
ratios of that between clients of one kind and between kinds. Exits with 1 where something is wrong.

  bench/server/load.py --hyper build/hyper [--minutes 1] [--clients 200]

With a build under AddressSanitizer its errors and leaks count too. Needs nothing but Python's standard
library.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from throughput import MODEL, QUESTIONS, ROOT

PATIENCE_S = 1800  # of a client that does not leave, under a sanitizer on a busy machine
KINDS = ["plain", "stream", "pool", "tools"]
# A template that knows calls: the bundled model's own does not.
TEMPLATE = ROOT / ".deps/llama/src/models/templates/Qwen-Qwen2.5-7B-Instruct.jinja"
TOOL = {"type": "function", "function": {"name": "total", "parameters": {
    "type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"],
    "additionalProperties": False}}}
# Of a run that may have ended, or have no lane left, before they come.
COMMANDS = [("paths/0/fork", {"at": 3, "text": "So ", "n": 2}), ("paths/1/prune", {}), ("paths/2/finish", {}),
            ("paths", {"n": 2}), ("limits", {"budget-tokens": 200}), ("cancel", {})]


class Load:
    """What the clients share: the server's address, and what they saw."""

    def __init__(self, port, questions, seed):
        self.port = port
        self.questions = questions
        self.random = random.Random(seed)
        self.waits = collections.defaultdict(list)  # by kind and client
        self.known, self.deleted, self.faults = set(), set(), []
        self.counts = collections.Counter()

    def body(self, kind):
        chat = {"model": "m:plain", "max_tokens": self.random.randint(8, 64), "messages": [
            {"role": "user", "content": self.random.choice(self.questions)}]}
        if kind == "plain":
            chat["n"] = self.random.choice([1, 1, 2])
        elif kind == "stream":
            chat["stream"] = True
        elif kind == "pool":
            chat |= {"model": self.random.choice(["m:sc", "m:hyper"]), "stream": self.random.random() < 0.5,
                     "hyper": {"width": self.random.randint(3, 12), "events": True}}
        else:
            chat |= {"model": self.random.choice(["m:plain", "m:sc"]), "tools": [TOOL], "tool_choice": "required",
                     "stream": self.random.random() < 0.5}
            if chat["model"] == "m:sc":
                chat["hyper"] = {"width": 4}
        return chat

    async def send(self, method, path, body=None, on_run=None):
        """Status, headers and body of the reply; `on_run` gets a run's id as soon as the headers are there."""
        data = json.dumps(body).encode() if body is not None else b""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                         f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            if on_run and "x-hyper-run" in headers:
                on_run(headers["x-hyper-run"])
            return int(head[0].split()[1]), headers, await reader.read()
        finally:
            writer.close()

    async def steer(self, run):
        command, body = self.random.choice(COMMANDS)
        status, _, reply = await self.send("POST", f"/v1/runs/{run}/{command}", body)
        self.counts[f"steered, {status}"] += 1
        if status not in (200, 400, 404, 409):
            self.faults.append(f"{command}: {status} {reply[:200]}")

    async def ask(self, kind, number):
        """One request to its end, then what the server says of its run."""
        steering = []

        def learn(run):
            self.known.add(run)
            if kind == "pool" and self.random.random() < 0.3:
                steering.append(asyncio.create_task(self.steer(run)))

        wish, begin = self.body(kind), time.monotonic()
        try:
            status, headers, reply = await self.send("POST", "/v1/chat/completions", wish, learn)
        finally:
            await asyncio.gather(*steering)
        seconds = time.monotonic() - begin
        self.counts[f"{kind}, {status}"] += 1
        if status == 429:
            await asyncio.sleep(int(headers["retry-after"]))
            return
        whole = b"data: [DONE]" in reply if wish.get("stream") else reply.endswith(b"}")
        if status != 200 or not whole or b'"error"' in reply:
            self.faults.append(f"{kind}: {status} {reply[-300:]}")
            return
        run = headers["x-hyper-run"]
        status, _, reply = await self.send("GET", f"/v1/runs/{run}")
        told = json.loads(reply)
        if status != 200 or told["status"] not in ("done", "partial"):
            self.faults.append(f"{run}: {status} {reply[:200]}")
            return
        self.waits[kind, number].append(max(seconds - told["seconds"], 0))
        if self.random.random() < 0.1:
            status, _, reply = await self.send("DELETE", f"/v1/runs/{run}")
            self.deleted.add(run)
            if status != 200:
                self.faults.append(f"DELETE {run}: {status} {reply[:200]}")

    async def client(self, number, end):
        kind = KINDS[number % len(KINDS)]
        while time.monotonic() < end:
            leaves = self.random.random() < 0.25
            try:
                await asyncio.wait_for(self.ask(kind, number), self.random.expovariate(0.5) if leaves else PATIENCE_S)
            except asyncio.TimeoutError:
                self.counts["left"] += leaves
                if not leaves:
                    self.faults.append(f"{kind}: no end within {PATIENCE_S} s")
            except (OSError, asyncio.IncompleteReadError) as broken:
                self.faults.append(f"{kind}: {broken!r}")

    async def run(self, clients, minutes):
        end = time.monotonic() + minutes * 60
        await asyncio.gather(*(self.client(number, end) for number in range(clients)))


def metrics(port):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return {name: float(value) for name, value in (
        line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def use_of(process):
    """Sockets and threads of a process. SQLite keeps a file open for its readers, as many as read at once."""
    files = pathlib.Path(f"/proc/{process.pid}/fd")
    return {"sockets": sum(os.readlink(file).startswith("socket:") for file in files.iterdir()),
            "threads": len(os.listdir(f"/proc/{process.pid}/task"))}


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def left_faults(port, process, before):
    """What is still there though no client is."""
    def running():
        now = metrics(port)
        return now["hyper_runs_running"] + now["hyper_runs_waiting"]

    def more():
        return {what: count - before[what] for what, count in use_of(process).items() if count > before[what]}

    faults = [] if wait_until(lambda: running() == 0) else [f"{running():.0f} runs are left"]
    faults += [] if wait_until(lambda: not more()) else [f"left open: {more()}"]
    now = metrics(port)
    for what, kept in (("hyper_lanes_open", "hyper_prompt_cache_lanes"),
                       ("hyper_kv_cells_used", "hyper_prompt_cache_cells")):
        if now[what] > now[kept]:
            faults.append(f"{what} {now[what]:.0f}, of which kept prompts {now[kept]:.0f}")
    if now["hyper_runs_total"] != now["hyper_runs_finished_total"] or now["hyper_runs_lost_total"]:
        faults.append(f"runs: {[now[f'hyper_runs_{what}_total'] for what in ('', 'finished', 'lost') if what]}")
    faults += [line for line in now if 'code="5' in line]
    health = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/health"))
    return faults + ([] if health == {"status": "ok"} else [f"health: {health}"])


def store_faults(store, load):
    """What the store has lost, or has twice. Read when the server has ended."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        rows = database.execute("SELECT name, status, reason FROM items JOIN questions ON questions.id = question "
                                "WHERE suite = 'serve'").fetchall()
    print("stored:", dict(collections.Counter(status for _, status, _ in rows)))
    names = collections.Counter(name for name, _, _ in rows)
    twice = [name for name, count in names.items() if count > 1]
    lost = load.known - load.deleted - set(names)
    faults = [f"twice in the store: {twice}"] if twice else []
    faults += [f"not in the store: {sorted(lost)}"] if lost else []
    faults += [f"deleted and yet stored: {name}" for name in load.deleted & set(names)]
    return faults + [f"{name} is {status}: {reason}" for name, status, reason in rows if status == "failed"]


def print_waits(load):
    medians = {}
    for kind in KINDS:
        means = [statistics.mean(waits) for (of, _), waits in load.waits.items() if of == kind]
        waits = sorted(wait for (of, _), some in load.waits.items() if of == kind for wait in some)
        if not waits:
            continue
        medians[kind] = statistics.median(waits)
        print(f"{kind}: {len(waits)} replies; waited {medians[kind]:.2f} s (median), {waits[-1]:.2f} s at most; "
              f"mean of a client {min(means):.2f} to {max(means):.2f} s, ratio {max(means) / min(means):.1f}")
    if medians:
        print(f"between kinds: ratio of the medians {max(medians.values()) / min(medians.values()):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hyper", default=str(ROOT / "build/hyper"))
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--template", type=pathlib.Path, default=TEMPLATE)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--more", nargs="*", default=[], help="further flags of hyper serve, after all others")
    args = parser.parse_args()
    questions = [json.loads(line)["question"] for path in QUESTIONS for line in open(path)]
    with tempfile.TemporaryDirectory() as folder:
        store = str(pathlib.Path(folder) / "runs.db")
        process = subprocess.Popen(
            [args.hyper, "serve", "--model", str(args.model), "--port", "0", "--name", "m", "--threads",
             str(args.threads), "--chat-template", str(args.template), "--store", store, "--store-max-runs", "1000000",
             "--connections", str(2 * args.clients + 16), "--lanes", "64", "--ctx", "8192", *args.more],
            stdout=subprocess.PIPE, text=True)
        port = int(process.stdout.readline().rsplit(":", 1)[1].strip().rstrip("/"))
        load = Load(port, questions, args.seed)
        before = use_of(process)
        asyncio.run(load.run(args.clients, args.minutes))
        faults = load.faults + left_faults(port, process, before)
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=120)
        faults += [f"the server ended with {code}"] if code else []
        print("requests:", dict(sorted(load.counts.items())), f"deleted {len(load.deleted)}")
        faults += store_faults(store, load)
    print_waits(load)
    print(f"{args.clients} clients, {args.minutes:g} minutes: {len(faults)} faults", *faults[:20], sep="\n  ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
