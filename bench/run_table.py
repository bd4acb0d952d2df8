#!/usr/bin/env python3
"""Runs `hyper run --json` over tinymath questions and prints a table: method, accuracy, tokens, time.

Each (method, seed, question) is one process; its JSON is kept in --out, so an interrupted table is
resumed by the same command. Questions are the first of each level's evaluation file, levels mixed
evenly. Graded by `hyper equal`.

  python3 bench/run_table.py --methods sc,hyper --questions 50 --levels 2,3,4 --seeds 1,2
"""

import argparse
import collections
import functools
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def questions(levels, count, split):
    """The first `count` questions, taken from the levels in turn."""
    files = [
        [json.loads(line) for line in open(ROOT / f"models/tinymath/suite/{split}-level{level}.jsonl")]
        for level in levels
    ]
    return [files[i % len(files)][i // len(files)] for i in range(count)]


def cpu_seconds():
    """CPU time, user and system, of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(args, method, seed, question):
    """The stored or new result of one run, with its wall and CPU time added."""
    path = args.out / f"{method}-w{args.width}-s{seed}-{question['id']}.json"
    if path.exists():
        return json.loads(path.read_text())
    command = [args.hyper, "run", "--json", "--method", method, "--width", str(args.width)]
    command += ["--seed", str(seed), *args.options.split(), question["question"]]
    start, start_cpu = time.monotonic(), cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    result["wall_s"] = wall
    result["cpu_s"] = cpu_seconds() - start_cpu
    for entry in result["paths"]:  # texts can be made again from the seed
        entry.pop("text", None)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result))
    part.rename(path)
    return result


@functools.lru_cache(maxsize=None)
def is_equal(program, gold, answer):
    done = subprocess.run([program, "equal", gold, answer], capture_output=True, check=False)
    return done.returncode == 0


def is_right(args, gold, answer):
    return answer is not None and (answer == gold or is_equal(args.hyper, gold, answer))


def spread(values):
    deviation = f" +- {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hyper", default=str(ROOT / "build/hyper"), help="the program")
    parser.add_argument("--methods", default="sc,hyper")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--levels", default="2,3,4")
    parser.add_argument("--split", default="evaluation", choices=["evaluation", "tuning"])
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--options", default="", help="further options of hyper run, in one word")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/run_table")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    chosen = questions(args.levels.split(","), args.questions, args.split)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    print("| method | accuracy, % (mean +- std over seeds, n-1) | a right path exists, % | abs tokens | "
          "effective tokens | N_inst | peak lanes | time, s (median) | CPU time, s (median) |")
    print("|---|---|---|---|---|---|---|---|---|")
    actions = collections.Counter()
    for method in args.methods.split(","):
        accuracy, exists, walls, cpus = [], [], [], []
        totals = collections.Counter()
        for seed in seeds:
            right = reachable = 0
            for number, question in enumerate(chosen):
                result = run(args, method, seed, question)
                right += is_right(args, question["answer"], result["answer"])
                answers = {p["answer"] for p in result["paths"] if p["answer"]}
                reachable += question["answer"] in answers or any(
                    is_right(args, question["answer"], answer) for answer in answers)
                walls.append(result["wall_s"])
                cpus.append(result["cpu_s"])
                ledger = result["ledger"]
                for key in ("generated", "effective", "lanes_opened", "lanes_peak"):
                    totals[key] += ledger[key]
                for decision in result["decisions"]:
                    if method == "hyper":
                        acted = decision["action"] == "none" or decision["expansion"] > 1
                        actions[decision["action"] if acted else decision["action"] + " (no-op)"] += 1
                if sys.stderr.isatty():
                    print(f"\r{method} seed {seed}: {number + 1}/{len(chosen)}", end="", file=sys.stderr)
            accuracy.append(100 * right / len(chosen))
            exists.append(100 * reachable / len(chosen))
        runs = len(seeds) * len(chosen)
        print(f"| {method} | {spread(accuracy)} | {spread(exists)} | {totals['generated'] / runs:.0f} | "
              f"{totals['effective'] / runs:.0f} | {totals['lanes_opened'] / runs:.1f} | "
              f"{totals['lanes_peak'] / runs:.1f} | {statistics.median(walls):.2f} | {statistics.median(cpus):.2f} |", flush=True)
    if actions:
        print("\nHyPER's decisions: " + ", ".join(f"{name} {count}" for name, count in actions.most_common()))


if __name__ == "__main__":
    main()
