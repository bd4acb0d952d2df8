#!/usr/bin/env python3
"""What the border to Python costs: `ask`, and methods in Python, beside the program.

    PYTHONPATH=build/python bench/python_border.py build/hyper [--runs 20] [--width 32]

Each run answers the same question with the same seed in every way, one after the other. Printed are
medians over the runs, with the quartiles. Inside one process two numbers need no quiet machine: what
`ask` takes beside its decoding, and the CPU time of a method in Python against the built-in one.
Then whole questions, prompt, vote and report included: the program answers many in one process
(`--questions`), `ask` as many in a loop, question by question in turns. What both say must be equal.
The program and the model start afresh for each turn, since turns differ by more than questions do.
"""

import argparse
import contextlib
import importlib.util
import json
import operator
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

import hyper_decode

TURNS = 12
QUESTIONS = 10  # of a turn
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


class Program:
    """The program answering one question after another. It stands still between the calls."""

    def __init__(self, program, width, seeds):
        lines = [{"question": QUESTION, "seed": seed} for seed in seeds]
        command = [program, "run", "--threads", "1", "--no-log", "--preset", "short", "--seed", "0"]
        command += ["--method", "hyper", "--width", str(width), "--questions"]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(map(json.dumps, lines)))
            file.flush()
            self._process = subprocess.Popen(
                [*command, file.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self.answer()  # the file has been read, and the caches are made

    def _cpu(self):
        return time.clock_gettime((~self._process.pid << 3) | 2)  # Linux: of another process

    def answer(self):
        """The line of the next question, and the wall and CPU seconds that it took."""
        cpu, wall = self._cpu(), time.perf_counter()
        self._process.send_signal(signal.SIGCONT)
        line = self._process.stdout.readline()
        wall = time.perf_counter() - wall
        self._process.send_signal(signal.SIGSTOP)
        return json.loads(line), wall, self._cpu() - cpu

    def close(self):
        self._process.kill()
        self._process.wait()


def whole_question(model, width, seed):
    """The result, and the wall and CPU seconds of `ask`."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = model.ask(QUESTION, method="hyper", width=width, seed=seed, preset="short")
    wall = time.perf_counter() - wall
    return result, wall, time.process_time() - cpu


def turn(program, width):
    """How much more than the program `ask` takes for a turn's questions: wall and CPU time.

    Ends where they say different things: other draws are other work.
    """
    seeds = range(QUESTIONS)
    spent = [[0.0, 0.0], [0.0, 0.0]]
    # One question before, for the caches, and one behind: the last answer is not the program's end.
    many = Program(program, width, [QUESTIONS, *seeds, QUESTIONS])
    with contextlib.closing(many), hyper_decode.Model(threads=1) as model:
        whole_question(model, width, QUESTIONS)
        for seed in seeds:
            first = many.answer() if seed % 2 else None
            result, *asked_s = whole_question(model, width, seed)
            line, *program_s = first or many.answer()
            said = {"answer": result.answer, "text": result.text, "paths": len(result.paths)}
            said |= {"seed": seed, "tokens": result.ledger.effective}
            if said != {name: line[name] for name in said}:
                raise SystemExit(f"the program says otherwise: {said}, {line}")
            for totals, seconds in zip(spent, (program_s, asked_s)):
                totals[:] = map(operator.add, totals, seconds)
    return [more / less - 1 for less, more in zip(*spent)]


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
    model.close()
    wall, cpu = zip(*(turn(flags.program, flags.width) for _ in range(TURNS)))
    print(f"{TURNS} turns of {QUESTIONS} questions: what ask takes more than the program")
    print("hyper, whole questions, wall ", spread(wall, "% ", 100))
    print("hyper, whole questions, CPU  ", spread(cpu, "% ", 100))


if __name__ == "__main__":
    main()
