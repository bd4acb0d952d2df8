#!/usr/bin/env python3
"""What the border to Python costs: `ask`, and methods in Python, beside the program.

    PYTHONPATH=build/python bench/python_border.py build/hyper [--runs 20] [--width 32]

Each run answers the same question with the same seed in every way, one after the other. Printed are
medians over the runs, with the quartiles. Inside one process two numbers need no quiet machine: what
`ask` takes beside its decoding, and the CPU time of a method in Python against the built-in one.
Then whole questions, prompt, vote and report included: the program answers many in one process
(`--questions`), `ask` as many in a loop, in turns. Their draws differ, so times are for each token.
"""

import argparse
import importlib.util
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import hyper_decode

TURNS = 9
QUESTION = "Start with 12, add 7, multiply by 5. What is the result?"


def spread(values, unit="ms", scale=1000):
    low, middle, high = (scale * value for value in statistics.quantiles(values, n=4))
    return f"{middle:8.2f} {unit} ({low:.2f} to {high:.2f})"


def program_seconds(program, method, width, seed):
    command = [program, "run", QUESTION, "--threads", "1", "--no-log", "--json", "--timing"]
    command += ["--preset", "short", "--method", method, "--width", str(width), "--seed", str(seed)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["timing"]["wall_s"]


def asked(model, method, width, seed):
    """Wall and CPU seconds of `ask`, and the seconds of its decoding."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = model.ask(
        QUESTION, method=method, width=width, seed=seed, preset="short", timing=True
    )
    return time.perf_counter() - wall, time.process_time() - cpu, result.timing["wall_s"]


def program_per_token(program, width, count):
    """Seconds for each token of `count` questions after the first one, in one process."""

    def answered(questions):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write((QUESTION + "\n") * questions)
            file.flush()
            command = [program, "run", "--questions", file.name, "--threads", "1", "--no-log"]
            command += ["--preset", "short", "--method", "hyper", "--width", str(width)]
            begin = time.perf_counter()
            done = subprocess.run(
                [*command, "--seed", "1"], check=True, capture_output=True, text=True
            )
            seconds = time.perf_counter() - begin
        return seconds, sum(json.loads(line)["tokens"] for line in done.stdout.splitlines())

    (one, first), (all_s, tokens) = answered(1), answered(1 + count)
    return (all_s - one) / (tokens - first)


def asked_per_token(model, width, count):
    begin = time.perf_counter()
    tokens = sum(
        model.ask(
            QUESTION, method="hyper", width=width, seed=seed, preset="short"
        ).ledger.effective
        for seed in range(count)
    )
    return (time.perf_counter() - begin) / tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--width", type=int, default=32)
    flags = parser.parse_args()
    example = pathlib.Path(__file__).parents[1] / "python/examples/esc.py"
    spec = importlib.util.spec_from_file_location("esc", example)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

    model = hyper_decode.Model(threads=1)
    asked(model, "hyper", flags.width, 0)  # the first run makes the caches
    program, border, beside, own, built_in = [], [], [], [], []
    for seed in range(flags.runs):
        program.append(program_seconds(flags.program, "hyper", flags.width, seed))
        wall, _, decoding = asked(model, "hyper", flags.width, seed)
        border.append(wall)
        beside.append((wall - decoding) / wall)
        built_in.append(asked(model, "esc", flags.width, seed)[1])
        own.append(asked(model, "my-esc", flags.width, seed)[1])
    print(f"{flags.runs} runs, width {flags.width}, 1 thread; median (quartiles)")
    print("hyper, program, decoding     ", spread(program))
    print("hyper, ask, whole call       ", spread(border))
    print("hyper, ask, beside decoding  ", spread(beside, "% ", 100))
    print("esc, built in, CPU           ", spread(built_in))
    print("esc, in Python, CPU          ", spread(own))
    ratio = [one / other - 1 for one, other in zip(own, built_in)]
    print("esc, in Python, more CPU     ", spread(ratio, "% ", 100))
    pairs = [
        (
            program_per_token(flags.program, flags.width, flags.runs),
            asked_per_token(model, flags.width, flags.runs),
        )
        for _ in range(TURNS)
    ]
    whole, through = zip(*pairs)
    print("hyper, program, a token      ", spread(whole, "us", 1e6))
    print("hyper, ask, a token          ", spread(through, "us", 1e6))
    more = [through / whole - 1 for whole, through in pairs]
    print("hyper, ask, more than program", spread(more, "% ", 100))


if __name__ == "__main__":
    main()
