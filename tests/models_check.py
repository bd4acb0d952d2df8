#!/usr/bin/env python3
"""Runs the program with its defaults on real models, at --effort low, as a user at a terminal does.

  tests/models_check.py HYPER MODEL.gguf [MODEL.gguf...]
For each model: the estimate must be the first thing that is said about the run, something must appear
every two seconds once the program has started, and the answer within 60 seconds. A model whose name
begins with "random" is timed only: its estimate must be within 30 % of what the run takes. All runs are
on two threads. Prints a table; the exit status is the number of models that fail.
"""
import os
import pathlib
import pty
import re
import select
import sys
import time

QUESTION = "Tom has 12 apples and buys 7 more. How many apples does he have?"
SILENCE_S = 2.0
ANSWER_S = 60.0
TOLERANCE = 0.3
ESTIMATE = re.compile(r"tokens/s: about ([0-9.]+) (s|minutes?)\b")


def run(program, model):
    """Everything that a terminal of 100 columns showed, as (seconds, text), and the exit status."""
    shown = []
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS="100", LINES="30", TERM="xterm-256color")
        os.execv(program, [program, "run", "-m", model, "--effort", "low", "--seed", "1", "--threads", "2",
                           "--no-log", QUESTION])
    begin = time.monotonic()
    while True:
        select.select([terminal], [], [])
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        shown.append((time.monotonic() - begin, data.decode(errors="replace")))
        if not data:
            break
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def seconds(match):
    return float(match[1]) * (1 if match[2] == "s" else 60)


def check(program, model):
    shown, status = run(program, model)
    total = shown[-1][0]
    silence = max(b - a for (a, _), (b, _) in zip([(0.0, "")] + shown, shown))
    text = ""
    told = said_at = None
    for at, piece in shown:
        text += piece
        match = ESTIMATE.search(text)
        if match and told is None:
            told, said_at = seconds(match), at
    faults = [] if status == 0 else [f"exit status {status}"]
    if told is None:
        faults.append("no estimate")
        told = said_at = float("nan")
    took = total - said_at
    if pathlib.Path(model).name.startswith("random"):
        if not abs(took - told) <= TOLERANCE * took:
            faults.append(f"told {told:.0f} s, took {took:.1f} s")
    elif total > ANSWER_S:
        faults.append(f"the answer came after {total:.0f} s")
    if silence > SILENCE_S:
        faults.append(f"nothing was shown for {silence:.1f} s")
    print(f"| {pathlib.Path(model).stem} | {said_at:.1f} | {told:.0f} | {took:.1f} | {total:.1f} "
          f"| {silence:.1f} | {'; '.join(faults) or 'passed'} |", flush=True)
    return bool(faults)


def main():
    program, *models = sys.argv[1:]
    if not models:
        sys.exit(__doc__)
    print("| model | estimate after, s | told, s | took from there, s | in all, s | longest silence, s | |")
    print("|---|---|---|---|---|---|---|")
    sys.exit(sum(check(os.path.abspath(program), model) for model in models))


if __name__ == "__main__":
    main()
