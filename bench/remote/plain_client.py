#!/usr/bin/env python3
"""Self-consistency by a plain asynchronous client, beside `hyper run --engine URL`.

Needs the package openai. Prints tokens, seconds and requests of both at the same width.

    bench/remote/plain_client.py HYPER BASE_URL [--width 16] [--max-tokens 400] [--runs 3]
"""

import argparse
import asyncio
import json
import subprocess
import time

import openai

QUESTION = "Ben has 44 boxes with 23 books each and gives away 73. How many are left?"


async def one(client, model, prompt, seed, max_tokens):
    """Tokens of one streamed text."""
    stream = await client.completions.create(
        model=model, prompt=prompt, max_tokens=max_tokens, stream=True, logprobs=20, seed=seed,
        temperature=0.8, top_p=1.0, extra_body={"top_k": -1, "min_p": 0})
    tokens = 0
    async for chunk in stream:
        logprobs = chunk.choices[0].logprobs if chunk.choices else None
        tokens += len((logprobs.model_extra or {}).get("content") or logprobs.tokens or []) \
            if logprobs else 0
    return tokens


async def plain(arguments, model, prompt, seed):
    client = openai.AsyncOpenAI(base_url=arguments.url, api_key="none")
    begin = time.perf_counter()
    counts = await asyncio.gather(*(one(client, model, prompt, seed * 1000 + i,
                                        arguments.max_tokens) for i in range(arguments.width)))
    return sum(counts), time.perf_counter() - begin


def ours(arguments, method, seed):
    command = [arguments.hyper, "run", "--json", "--timing", "--preset", "short", "--method",
               method, "--seed", str(seed), "--width", str(arguments.width), "--max-tokens",
               str(arguments.max_tokens), "--engine", arguments.url, QUESTION]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("url")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for seed in range(1, arguments.runs + 1):
        for method in ("sc", "hyper"):
            run = ours(arguments, method, seed)
            timing = run["timing"]
            share = (timing["statistics_s"] + timing["rest_s"]) / timing["wall_s"]
            print(f"hyper run, {method:5}: {run['ledger']['generated']:6} tokens"
                  f" {timing['wall_s']:7.2f} s, our share without parsing {100 * share:.1f} %")
        tokens, seconds = asyncio.run(plain(arguments, run["model"]["name"], run["prompt"], seed))
        print(f"plain client    : {tokens:6} tokens {seconds:7.2f} s")


if __name__ == "__main__":
    main()
