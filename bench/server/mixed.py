#!/usr/bin/env python3
"""Time to the first token of plain requests on an idle `hyper serve` and beside a wide pool.

Prints both medians, the tokens per second of the pool alone and beside the plain requests (all tokens
counted), and how many of a burst of plain requests failed.

  bench/server/mixed.py --hyper build/hyper [--width 512] [--threads 2] [--rounds 3]

Needs nothing but Python's standard library.
"""

import argparse
import asyncio
import json
import pathlib
import statistics
import time
import urllib.request

from throughput import MODEL, QUESTIONS, Server, ask, free_port


def start(args):
    port = free_port()
    command = [args.hyper, "serve", "--model", str(args.model), "--port", str(port), "--name", "m", "--threads",
               str(args.threads), "--ctx", str(args.context), "--lanes", str(args.lanes), *args.more]
    return Server(command, port, "m:plain")


def pool(server, args, seed):
    """Tokens of a pool's paths, and its seconds."""
    body = {"model": "m:sc", "seed": seed, "max_tokens": 256, "hyper": {"width": args.width},
            "messages": [{"role": "user", "content": "Solve 5x+43=173 for x."}]}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/chat/completions",
                                     json.dumps(body).encode(), {"Content-Type": "application/json"})
    begin = time.monotonic()
    reply = json.load(urllib.request.urlopen(request, timeout=600))
    return reply["usage"]["completion_tokens"], time.monotonic() - begin


async def one_by_one(server, questions, tokens, until):
    """Plain requests one after another until `until` is done. Their seconds to the first token; all tokens."""
    firsts, made = [], 0
    for question in questions:
        if until is not None and until.done():
            break
        _, count, first, _ = await ask(server, question, tokens)
        firsts.append(first)
        made += count
    return firsts, made


async def measure(args, questions):
    server = start(args)
    try:
        await one_by_one(server, questions[:2], args.tokens, None)  # warm
        idle, _ = await one_by_one(server, questions[2:10], args.tokens, None)
        alone = await asyncio.to_thread(pool, server, args, 1)
        running = asyncio.create_task(asyncio.to_thread(pool, server, args, 1))
        await asyncio.sleep(1)  # the pool decodes
        beside, made = await one_by_one(server, questions[10:], args.tokens, running)
        tokens, seconds = await running
        burst = await asyncio.gather(*(ask(server, question, args.tokens) for question in questions[: args.burst]),
                                     return_exceptions=True)
    finally:
        server.stop()
    return {"idle_s": statistics.median(idle), "beside_s": statistics.median(beside), "beside_most_s": max(beside),
            "plain": len(beside), "alone_tokens_per_s": alone[0] / alone[1],
            "beside_tokens_per_s": (tokens + made) / seconds,
            "burst_failed": sum(isinstance(reply, Exception) for reply in burst)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hyper", required=True)
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--lanes", type=int, default=600)
    parser.add_argument("--context", type=int, default=200000)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--burst", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--more", nargs="*", default=[], help="further flags of hyper serve, after all others")
    args = parser.parse_args()
    questions = [json.loads(line)["question"] for path in QUESTIONS for line in open(path)]
    for _ in range(args.rounds):
        print(json.dumps(asyncio.run(measure(args, questions))), flush=True)


if __name__ == "__main__":
    main()
