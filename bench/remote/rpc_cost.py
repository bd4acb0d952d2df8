#!/usr/bin/env python3
"""What it costs to have a model's layers on ggml-rpc-servers: one process, one server, two servers.

Starts and stops the servers, on the loopback and with one thread each. The three take turns, so that
other load falls on all of them. Prints a table of medians with the lowest and highest in brackets.
Standard library only.

    bench/remote/rpc_cost.py RPC_BENCH RPC_SERVER MODEL [--rounds 5] [--seed 1] [--prefix 'chrt -f 5']
"""

import argparse
import contextlib
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "remote"))
import servers  # noqa: E402

WIDTH, ROUTES, TOKENS, RUNS = 8, 4, 48, 3
PLACES = {"one process": 0, "one server": 1, "two servers": 2}


def measured(arguments, hosts):
    """What rpc_bench prints, by pool."""
    command = [*shlex.split(arguments.prefix), arguments.bench, arguments.model, ",".join(hosts),
               *(str(number) for number in (WIDTH, ROUTES, TOKENS, RUNS, arguments.seed))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {result.stderr}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def spread(values, digits):
    return (f"{statistics.median(values):.{digits}f}"
            f" ({min(values):.{digits}f} to {max(values):.{digits}f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("server")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prefix", default="", help="put before each program, such as 'chrt -f 5'")
    arguments = parser.parse_args()
    found = {place: {} for place in PLACES}
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(servers.rpc_server(arguments.server,
                                                        prefix=shlex.split(arguments.prefix)))[0]
                 for _ in range(max(PLACES.values()))]
        for _ in range(arguments.rounds):
            for place, count in PLACES.items():
                for line in measured(arguments, hosts[:count]):
                    found[place].setdefault(line["pool"], []).append(line)
    print("| | plain, tokens/s | refined, tokens/s | plain, ms a forward | refined, ms a forward |"
          " hook, ms a forward |\n|---|---|---|---|---|---|")
    for place, pools in found.items():
        of = lambda pool, name: [line[name] for line in pools[pool]]  # noqa: E731
        wide, routed = of("wide", "forward_ms"), of("routed", "forward_ms")
        hook = [more - less for less, more in zip(wide, routed)]
        print(f"| {place} | {spread(of('plain', 'tokens_per_s'), 0)} |"
              f" {spread(of('routed', 'tokens_per_s'), 0)} | {spread(wide, 2)} |"
              f" {spread(routed, 2)} | {spread(hook, 2)} |")
    print(f"\n{WIDTH} paths, refined over {ROUTES} routes a token; ms a forward of"
          f" {WIDTH * ROUTES} rows; {arguments.rounds} rounds of {RUNS} runs of {TOKENS} tokens,"
          f" seed {arguments.seed}")


if __name__ == "__main__":
    main()
