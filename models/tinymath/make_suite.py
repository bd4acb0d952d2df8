"""Writes suite/{tuning,evaluation}-level{0..4}.jsonl: 100 questions of each level and split.

No question has a seed of training, nor a text that came up in training under another seed.

python make_suite.py           writes the files (half a minute)
python make_suite.py --check   exits with 1 when a file differs from what would be written
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import problems

TRAINING_SEED_END = 10**6
FIRST_SEEDS = {"tuning": 1_000_000_000, "evaluation": 1_100_000_000}
SPLIT_SEEDS = 100_000_000
LEVELS = range(5)
LEVEL_SEEDS = 1_000_000  # seeds kept for one level of a split
QUESTIONS = 100
OPTION = re.compile(r"([A-D])\) (\d+)")


def question_record(split: str, seed: int, level: int) -> dict[str, object]:
    """The fields of one line."""
    problem = problems.problem(seed, level)
    _, solved = problems.solution(seed, problem.solve)
    assert solved == problem.answer, (seed, level)
    choice = not problem.answer.isdigit()
    options = dict(OPTION.findall(problem.question)) if choice else {}
    return {
        "id": f"tinymath-{split}-{level}-{seed}",
        "seed": seed,
        "level": level,
        "kind": problem.kind,
        "question": problem.question,
        "answer": problem.answer,
        "answer_kind": "choice" if choice else "integer",
        "options": options,
    }


def training_questions() -> set[str]:
    """The texts of all training seeds."""
    return {problems.problem(seed).question for seed in range(TRAINING_SEED_END)}


def records(split: str, level: int, seen: set[str]) -> list[dict[str, object]]:
    """The questions of a split and level whose texts are not in `seen`; adds them to it."""
    first = FIRST_SEEDS[split] + level * LEVEL_SEEDS
    chosen: list[dict[str, object]] = []
    seed = first
    while len(chosen) < QUESTIONS:
        assert TRAINING_SEED_END <= seed < first + LEVEL_SEEDS < FIRST_SEEDS[split] + SPLIT_SEEDS
        record = question_record(split, seed, level)
        if record["question"] not in seen:
            seen.add(record["question"])
            chosen.append(record)
        seed += 1
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folder = Path(__file__).parent / "suite"
    folder.mkdir(exist_ok=True)
    differing = []
    seen = training_questions()
    for split in FIRST_SEEDS:
        for level in LEVELS:
            text = "".join(json.dumps(record) + "\n" for record in records(split, level, seen))
            path = folder / f"{split}-level{level}.jsonl"
            if not arguments.check:
                path.write_text(text, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                differing.append(path.name)
    if differing:
        print("differs:", ", ".join(differing), file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
