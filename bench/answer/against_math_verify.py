"""Agreement and speed of hyper's equivalence and Math-Verify on rewritings of MATH500 golds.

Every distinct gold is paired with 20 rewritten forms, which mean the same, and 20 near misses,
which do not (rewritings.py). Both programs judge the same pairs in one run; every pair on which
they disagree, or on which one of them is wrong, is written to a file to be judged by hand.

usage: against_math_verify.py MATH500.jsonl EQUAL_PAIRS OUT.tsv [--limit N]
"""

import argparse
import json
import pathlib
import subprocess
import time

import rewritings
from math_verify import parse, verify


def load_golds(path: pathlib.Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(json.loads(line)["answer"] for line in lines))


def judge_with_hyper(program: str, pairs: list[tuple[str, str]]) -> tuple[list[str], float]:
    text = "".join(f"{gold}\t{answer}\n" for gold, answer in pairs)
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return done.stdout.splitlines(), float(done.stderr.split()[-2])


def as_latex(answer: str) -> str:
    """Math-Verify looks for mathematics between delimiters."""
    # An escaped dollar sign is money, not a delimiter.
    unescaped = answer.replace("\\$", "")
    marked = any(mark in unescaped for mark in ("$", "\\(", "\\boxed"))
    return answer if marked else f"${answer}$"


def judge_with_math_verify(pairs: list[tuple[str, str]]) -> tuple[list[str], float]:
    start = time.perf_counter()
    verdicts = []
    for gold, answer in pairs:
        same = verify(parse(as_latex(gold)), parse(as_latex(answer)))
        verdicts.append("equal" if same else "not equal")
    return verdicts, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("math500", type=pathlib.Path)
    parser.add_argument("equal_pairs")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=None, help="only the first N golds")
    arguments = parser.parse_args()

    pairs, truth = [], []
    for gold in load_golds(arguments.math500)[: arguments.limit]:
        for answer in rewritings.rewritings(gold):
            pairs.append((gold, answer))
            truth.append("equal")
        for answer in rewritings.near_misses(gold):
            pairs.append((gold, answer))
            truth.append("not equal")

    ours, our_seconds = judge_with_hyper(arguments.equal_pairs, pairs)
    theirs, their_seconds = judge_with_math_verify(pairs)
    with arguments.out.open("w", encoding="utf-8") as out:
        out.write("gold\tanswer\tmeant\thyper\tmath-verify\n")
        for (gold, answer), meant, our, their in zip(pairs, truth, ours, theirs):
            if our != meant or their != meant:
                out.write(f"{gold}\t{answer}\t{meant}\t{our}\t{their}\n")
    for name, verdicts, seconds in (
        ("hyper", ours, our_seconds),
        ("math-verify", theirs, their_seconds),
    ):
        right = sum(verdict == meant for verdict, meant in zip(verdicts, truth))
        wrong_equal = sum(
            verdict == "equal" != meant for verdict, meant in zip(verdicts, truth)
        )
        missed = sum(verdict != "equal" == meant for verdict, meant in zip(verdicts, truth))
        print(
            f"{name:12} {len(pairs)} pairs, {right} as meant, {wrong_equal} wrongly equal, "
            f"{missed} equal missed, {verdicts.count('undecided')} undecided, "
            f"{seconds:.3f} s, {len(pairs) / seconds:.0f} pairs/s"
        )
    agree = sum(our == their for our, their in zip(ours, theirs))
    print(f"same verdict on {agree} of {len(pairs)}")
    print(f"speed ratio {their_seconds / our_seconds:.0f}")


if __name__ == "__main__":
    main()
