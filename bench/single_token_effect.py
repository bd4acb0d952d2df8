#!/usr/bin/env python3
"""What SingleToken does to tokens and to their confidence, on prefixes that refined and plain paths share.

  bench/single_token_effect.py --hyper build/hyper [--questions 20] [--routes 8]

Every question of the list is run twice with the same seed: by `sc`, and by `roe` with HyPER's own
refinement (two passes, noisy weights, aggregation by confidence), so that every token is refined. As long
as both paths have written the same tokens, the next token and its confidence are compared.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAIN = ["--method", "sc"]
REFINED = ["--method", "roe", "--two-pass", "true", "--weights", "noisy", "--aggregate", "confidence",
           "--skip-first-layers", "0", "--skip-last-layers", "0"]


def questions(count):
    """Tuning questions of levels 2 to 4, in turn."""
    rows = []
    for level in (2, 3, 4):
        name = ROOT / f"models/tinymath/suite/tuning-level{level}.jsonl"
        rows.append([json.loads(line)["question"] for line in name.open(encoding="utf-8")])
    return [question for turn in zip(*rows) for question in turn][:count]


def paths(args, question, flags):
    """By path: [(token, confidence)]."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as trace:
        subprocess.run([args.hyper, "run", question, "--preset", "short", "--threads", "1", "--no-log",
                        "--seed", "1", "--width", str(args.width), *flags, "--trace", trace.name],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = {}
        for line in open(trace.name, encoding="utf-8"):
            record = json.loads(line)
            if record["record"] == "token":
                found.setdefault(record["path"], []).append((record["token"], record["confidence"]))
        return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--hyper", default=str(ROOT / "build/hyper"))
    arguments.add_argument("--questions", type=int, default=20)
    arguments.add_argument("--width", type=int, default=2)
    arguments.add_argument("--routes", type=int, default=8)
    args = arguments.parse_args()
    equal, changes = 0, []
    for question in questions(args.questions):
        plain = paths(args, question, PLAIN)
        refined = paths(args, question, REFINED + ["--routes", str(args.routes)])
        for number, tokens in plain.items():
            for (token, confidence), (other, refined_confidence) in zip(tokens, refined[number]):
                changes.append(refined_confidence - confidence)
                if token != other:
                    break
                equal += 1
    print(f"{args.questions} questions, {args.width} paths each, {args.routes} routes: {equal} of "
          f"{len(changes)} refined tokens are the plain ones; mean change of confidence "
          f"{sum(changes) / len(changes):+.4f} nats")


if __name__ == "__main__":
    main()
