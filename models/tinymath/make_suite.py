"""Writes suite/{tuning,evaluation}-{level,hunt}N.jsonl: questions of each level and split.

No question has a seed of training, nor a text that came up in training under another seed.

python make_suite.py            writes the files (a minute)
python make_suite.py --check    exits with 1 when a file differs from what would be written
python make_suite.py --more evaluation-hunt4 --count 200
                                prints the questions that would follow those of a file
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import problems
import searches

TRAINING_SEED_END = 10**6
FIRST_SEEDS = {"tuning": 1_000_000_000, "evaluation": 1_100_000_000}
SPLIT_SEEDS = 100_000_000
LEVELS = range(5)
SEARCH_LEVELS = range(1, 7)
FIRST_SEARCH_LEVEL = 10  # where the seeds of the searches' level 0 would be, in levels
LEVEL_SEEDS = 1_000_000  # seeds kept for one level of a split
OPTION = re.compile(r"([A-D])\) (\d+)")


class Family(NamedTuple):
    """A kind of suite files: where its questions come from and what its levels are called."""

    name: str  # of a file: SPLIT-NAME1.jsonl
    problem: Callable[[int, int | None], problems.Problem]
    solution: Callable[[int, problems.Solve], tuple[str, str]]
    levels: range
    first_level: int  # of the seeds
    questions: int  # of a level and split

    def group(self, level: int) -> int | str:
        """What `--levels` calls a level: 3, or hunt-3."""
        return level if self.name == "level" else f"{self.name}-{level}"


WORD_PROBLEMS = Family("level", problems.problem, problems.solution, LEVELS, 0, 100)
HUNTS = Family(
    "hunt", searches.problem, searches.solution, SEARCH_LEVELS, FIRST_SEARCH_LEVEL, 200
)


def question_record(family: Family, split: str, seed: int, level: int) -> dict[str, object]:
    """The fields of one line."""
    problem = family.problem(seed, level)
    _, solved = family.solution(seed, problem.solve)
    assert solved == problem.answer, (seed, level)
    choice = not problem.answer.isdigit()
    options = dict(OPTION.findall(problem.question)) if choice else {}
    return {
        "id": f"tinymath-{split}-{family.group(level)}-{seed}",
        "seed": seed,
        "level": family.group(level),
        "kind": problem.kind,
        "question": problem.question,
        "answer": problem.answer,
        "answer_kind": "choice" if choice else "integer",
        "options": options,
    }


def training_questions(family: Family) -> set[str]:
    """The texts of all training seeds."""
    return {family.problem(seed, None).question for seed in range(TRAINING_SEED_END)}


def records(
    family: Family, split: str, level: int, seen: set[str], count: int, after: int = -1
) -> list[dict[str, object]]:
    """So many questions of a split and level whose texts are not in `seen`; adds them to it.

    Their seeds are above `after`.
    """
    first = FIRST_SEEDS[split] + (family.first_level + level) * LEVEL_SEEDS
    chosen: list[dict[str, object]] = []
    seed = max(first, after + 1)
    while len(chosen) < count:
        assert TRAINING_SEED_END <= seed < first + LEVEL_SEEDS < FIRST_SEEDS[split] + SPLIT_SEEDS
        record = question_record(family, split, seed, level)
        if record["question"] not in seen:
            seen.add(record["question"])
            chosen.append(record)
        seed += 1
    return chosen


def texts(family: Family) -> Iterator[tuple[str, str]]:
    """(file name, content) of every split and level."""
    seen = training_questions(family)
    for split in FIRST_SEEDS:
        for level in family.levels:
            lines = records(family, split, level, seen, family.questions)
            yield f"{split}-{family.name}{level}.jsonl", text_of(lines)


def text_of(lines: list[dict[str, object]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in lines)


def more(name: str, count: int, folder: Path) -> str:
    """So many questions more than SPLIT-NAME1 has, none of them in the suite or in training."""
    split, group = name.split("-")
    family = WORD_PROBLEMS if group.startswith("level") else HUNTS
    suite = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl")}
    known = [json.loads(line) for text in suite.values() for line in text.splitlines()]
    seen = training_questions(family) | {record["question"] for record in known}
    last = max(json.loads(line)["seed"] for line in suite[name].splitlines())
    return text_of(records(family, split, int(group[-1]), seen, count, last))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--more", metavar="FILE", help="such as evaluation-hunt4")
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    folder = Path(__file__).parent / "suite"
    if arguments.more:
        print(more(arguments.more, arguments.count, folder), end="")
        return 0
    differing = []
    for name, text in itertools.chain(texts(WORD_PROBLEMS), texts(HUNTS)):
        path = folder / name
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differing.append(name)
    if differing:
        print("differs:", ", ".join(differing), file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
