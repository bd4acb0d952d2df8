#!/usr/bin/env python3
"""What `hyper plan --cluster` predicts for real servers, and what they do.

Starts one `hyper serve` per replica, with one thread and a core of its own, and stops them.
Measures one server's forwards with `hyper bench`, then for each number of replicas and each method
the time in which `hyper eval` answers questions of tinymath. The plan gets the same questions, as
`hyper export` writes them. Standard library only.

    bench/remote/cluster.py HYPER [--replicas 1,2] [--methods sc,hyper] [--questions 40]
                            [--parallel 4] [--width 16] [--runs 3] [--first]

Printed are medians over the runs, with the least and the largest. --first lets the scheduler prefer
these processes to others of the machine (Linux's autogroups; as root).
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "remote"))
import servers  # noqa: E402

WIDTHS = (1, 8, 16, 32, 64)
LANES = 64
# A group of its own, which the scheduler prefers.
FIRST = ["setsid", "--wait", "sh", "-c", 'echo -20 >/proc/self/autogroup && exec "$@"', "first"]


@contextlib.contextmanager
def replica(arguments, core):
    port = servers.free_port()
    command = [*arguments.prefix[2:], "taskset", "-c", str(core), arguments.hyper, "serve",
               "--port", str(port), "--threads", "1", "--lanes", str(LANES), "--ctx", "32768"]
    root = f"http://127.0.0.1:{port}"
    with servers.running(command, dict(os.environ), root + "/health"):
        yield root + "/v1"


def hyper(arguments, *words):
    """What a command of the program prints."""
    result = subprocess.run([*arguments.prefix, arguments.hyper, *map(str, words)],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"hyper {words[0]} failed with {result.returncode}: {result.stderr}")
    return result.stdout


def bench(arguments, url, folder):
    """Files with the forwards of one server, one for each width."""
    files = []
    for width in WIDTHS:
        file = folder / f"w{width}.json"
        file.write_text(hyper(arguments, "bench", "--engine", url, "--width", width, "--runs", 5,
                              "--json"), encoding="utf-8")
        files.append(str(file))
    return ",".join(files)


def answer(arguments, urls, method, study):
    """Seconds in which `hyper eval` answers the questions, from its start to its end."""
    begin = time.perf_counter()
    hyper(arguments, "eval", "--engine", ",".join(urls), "--methods", method, "--align", "off",
          "--width", arguments.width, "--questions", arguments.questions, "--levels", "1,2,3",
          "--parallel", arguments.parallel, "--seed", 1, "--live", "--study", study)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hyper")
    parser.add_argument("--replicas", default="1,2")
    parser.add_argument("--methods", default="sc,hyper")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    arguments.prefix = FIRST if arguments.first else []
    counts = [int(count) for count in arguments.replicas.split(",")]
    print(f"{os.cpu_count()} cores, width {arguments.width}, {arguments.questions} questions,"
          f" {arguments.parallel} at once, {arguments.runs} runs")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as temporary, contextlib.ExitStack() as stack:
        folder = pathlib.Path(temporary)
        urls = [stack.enter_context(replica(arguments, core)) for core in range(max(counts))]
        forwards = bench(arguments, urls[0], folder)
        print("| method | replicas | questions/hour, predicted | measured | predicted to measured |"
              " tokens/s, predicted | measured |")
        print("|---|---|---|---|---|---|---|")
        for method in arguments.methods.split(","):
            for count in counts:
                rates, tokens = [], []
                for run in range(arguments.runs):
                    study = folder / f"{method}-{count}-{run}.db"
                    seconds = answer(arguments, urls[:count], method, study)
                    lines = hyper(arguments, "export", study, "--jsonl")
                    rates.append(3600 * arguments.questions / seconds)
                    tokens.append(sum(json.loads(line)["ledger"]["generated"]
                                      for line in lines.splitlines()) / seconds)
                runs = folder / "runs.jsonl"
                runs.write_text(lines, encoding="utf-8")
                plan = json.loads(hyper(
                    arguments, "plan", "--cluster", count, "--bench", forwards, "--runs", runs,
                    "--lanes", LANES, "--questions", arguments.parallel, "--json"))
                row = plan["rows"][-1]
                rate = statistics.median(rates)
                print(f"| {method} | {count} | {row['questions_per_hour']:.0f} | {rate:.0f}"
                      f" ({min(rates):.0f} to {max(rates):.0f}) |"
                      f" {row['questions_per_hour'] / rate:.2f} | {row['tokens_per_s']:.0f} |"
                      f" {statistics.median(tokens):.0f} |", flush=True)
        print("forwards: " + ", ".join(f"{one['rows']:.0f} rows {one['ms']:.2f} ms"
                                       for one in plan["forwards"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
