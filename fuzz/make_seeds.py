#!/usr/bin/env python3
"""Writes seeds for a fuzzer out of the table of answer cases: make_seeds.py FUZZER FOLDER.

The table (tests/cases/answers.jsonl) grows with each fault that is found, and the seeds with it. A
row of pairs or groups gives a seed for each pair; files are named by row and place.
"""

import itertools
import json
import pathlib
import sys

TABLE = pathlib.Path(__file__).parent.parent / "tests/cases/answers.jsonl"
KINDS = {"integer": 0, "math": 1, "choice": 2, "text": 3}
EXTRACTED = ("extract", "split", "grade")
COMPARED = ("equal", "group")


def extract_seeds(row):
    """For fuzz/answer/extract_fuzz.cc: a byte of options, then the text."""
    flags = KINDS[row.get("kind", "math")]
    flags |= 4 if row.get("options") == "1234" else 0
    flags |= 8 if row.get("opened_by_template") else 0
    flags |= 16 if row.get("finished", True) else 0
    yield bytes([flags]) + row["text"].encode()


def pairs(row):
    """The pairs of answers that a row compares."""
    if row["op"] == "group":
        yield from itertools.combinations(row["answers"], 2)
    else:
        yield row["gold"], row["answer"]


def equal_seeds(row):
    """For fuzz/answer/equal_fuzz.cc: a byte of policies, then both answers, a line each."""
    options = row.get("options", {})
    policies = 1 if options.get("rounded") else 0
    policies |= 2 if options.get("allow_renamed_constants") else 0
    policies |= 0 if options.get("ignore_units", True) else 4
    policies |= 8 if options.get("base") else 0
    for gold, answer in pairs(row):
        yield bytes([policies]) + f"{gold}\n{answer}".encode()


def reader_seeds(row):
    """For fuzz/answer/reader_fuzz.cc: one answer."""
    for pair in pairs(row):
        for answer in pair:
            yield answer.encode()


SEEDS = {
    "equal_fuzz": (COMPARED, equal_seeds),
    "extract_fuzz": (EXTRACTED, extract_seeds),
    "reader_fuzz": (COMPARED, reader_seeds),
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SEEDS:
        sys.exit(f"usage: make_seeds.py {{{','.join(SEEDS)}}} FOLDER")
    operations, seeds = SEEDS[sys.argv[1]]
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in TABLE.read_text().splitlines()]
    for row in rows:
        if row["op"] in operations:
            for place, seed in enumerate(seeds(row)):
                (folder / f"{row['id']}-{place}").write_bytes(seed)


if __name__ == "__main__":
    main()
