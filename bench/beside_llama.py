#!/usr/bin/env python3
"""Decoding speed of `hyper bench` beside llama-batched-bench, taking turns in one run.

    bench/beside_llama.py MODEL --peer ggml=PROGRAM [--peer NAME=PROGRAM]... [--hyper build/hyper]
        [--widths 1,2,4,8,16,64] [--lengths 100,1000] [--tokens 20] [--threads 1] [--runs 3]
        [--same FOLDER]... [--before "chrt -f 10"]

PROGRAM is a llama-batched-bench. All lanes share a prompt of the given length, and each decodes
--tokens more. The work of llama-batched-bench is the model's alone: it decodes random tokens.
`hyper bench` samples its tokens and keeps their statistics, and its time has both in it. Prompts
are left out of both times, and so is hyper's first token of each lane, which comes of the prompt.

First the outputs are compared: for each --same, a folder of ggml's backend libraries, the greedy
text of hyper's own backend and of that folder's, on one question. They should be equal; where the
types round differently they may part, and then the table says so.

Prints a Markdown table: tokens/s as the median of the runs, with the lowest and highest, and by how
much hyper is faster than each peer. Standard library only.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys

QUESTION = "Ben has 44 boxes with 23 books each and gives away 73. How many are left?"


def output_of(arguments, command):
    """Standard output and error of a command, which must succeed."""
    done = subprocess.run([*shlex.split(arguments.before), *command], capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def greedy_text(arguments, backend):
    """A greedy text of one path, by the backend of this folder; of hyper's own where it is None."""
    command = [arguments.hyper, "run", "--json", "--model", arguments.model, "--method", "cot",
               "--temperature", "0", "--max-tokens", "48", "--threads", str(arguments.threads)]
    command += ["--backend-dir", backend] if backend else []
    return json.loads(output_of(arguments, [*command, QUESTION])[0])["paths"][0]["text"]


def compare_outputs(arguments):
    """A line for each folder of --same: how much of the greedy text is the same."""
    own = greedy_text(arguments, None) if arguments.same else ""
    for folder in arguments.same:
        other = greedy_text(arguments, folder)
        same = next((i for i, pair in enumerate(zip(own, other)) if pair[0] != pair[1]),
                    min(len(own), len(other)))
        told = "equal" if own == other else f"equal in the first {same}"
        print(f"greedy text of {len(own)} characters, beside {folder}: {told}")


def hyper_speed(arguments, width, length):
    command = [arguments.hyper, "bench", "--json", "--model", arguments.model, "--width", str(width),
               "--tokens", str(arguments.tokens + 1), "--prompt-tokens", str(length),
               "--threads", str(arguments.threads), "--runs", "1", *shlex.split(arguments.options)]
    report = json.loads(output_of(arguments, command)[0])
    run = report["runs"][0]
    if run["tokens"] != width * (arguments.tokens + 1):
        sys.exit(f"paths ended early at width {width}: {run['tokens']} tokens. Give fewer --tokens")
    if run["prompt_tokens"] != length:
        sys.exit(f"the prompt has {run['prompt_tokens']} tokens and not {length}")
    return report["decoding_tokens_per_s"]["median"]


def peer_speeds(arguments, program, widths, length):
    """Tokens/s at each width, out of one process."""
    cells = length + max(widths) * arguments.tokens
    command = [program, "-m", arguments.model, "-npp", str(length), "-ntg", str(arguments.tokens),
               "-npl", ",".join(map(str, widths)), "-t", str(arguments.threads),
               "-tb", str(arguments.threads), "-fa", "on", "-pps", "--kv-unified",
               "-c", str(-(-cells // 256) * 256), "-b", "2048", "-ub", "512",
               "--log-verbosity", "5", "--output-format", "jsonl"]
    lines = "".join(output_of(arguments, command)).splitlines()
    rows = [json.loads(line) for line in lines if line.startswith('{"n_kv_max"')]
    speeds = {row["pl"]: row["speed_tg"] for row in rows}
    if sorted(speeds) != sorted(widths):
        sys.exit(f"{program} printed rows for the widths {sorted(speeds)} only")
    return speeds


def measure(arguments, length):
    """(name, width) -> tokens/s of each run."""
    speeds = {}
    for _ in range(arguments.runs):
        for width in arguments.widths:
            speeds.setdefault(("hyper", width), []).append(hyper_speed(arguments, width, length))
        for name, program in arguments.peer:
            found = peer_speeds(arguments, program, arguments.widths, length)
            for width, speed in found.items():
                speeds.setdefault((name, width), []).append(speed)
    return speeds


def cell(values):
    digits = 1 if min(values) < 1000 else 0
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--hyper", default="build/hyper")
    parser.add_argument("--peer", action="append", required=True,
                        type=lambda text: tuple(text.split("=", 1)), metavar="NAME=PROGRAM")
    parser.add_argument("--same", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--widths", type=numbers, default=[1, 2, 4, 8, 16, 64])
    parser.add_argument("--lengths", type=numbers, default=[100, 1000])
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--before", default="", help="words before each command")
    parser.add_argument("--options", default="", help="further options of hyper bench")
    arguments = parser.parse_args()
    compare_outputs(arguments)
    names = ["hyper", *(name for name, _ in arguments.peer)]
    head = ["length", "lanes", *names, *(f"hyper / {name}" for name in names[1:])]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for length in arguments.lengths:
        speeds = measure(arguments, length)
        for width in arguments.widths:
            own = statistics.median(speeds["hyper", width])
            ratios = [f"{own / statistics.median(speeds[name, width]):.2f}" for name in names[1:]]
            row = [str(length), str(width), *(cell(speeds[name, width]) for name in names), *ratios]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
