#!/usr/bin/env python3
"""Writes seeds for the fuzzers out of the table of answer cases: make_seeds.py NAME FOLDER.

The table (tests/cases/answers.jsonl) grows with each fault that is found, and the seeds with it.
"""

import json
import pathlib
import sys

TABLE = pathlib.Path(__file__).parent.parent / "tests/cases/answers.jsonl"
KINDS = {"integer": 0, "math": 1, "choice": 2, "text": 3}


def extract_seed(row):
    """The bytes that fuzz/answer/extract_fuzz.cc reads: a byte of options, then the text."""
    flags = KINDS[row.get("kind", "math")]
    flags |= 4 if row.get("options") == "1234" else 0
    flags |= 8 if row.get("opened_by_template") else 0
    flags |= 16 if row.get("finished", True) else 0
    return bytes([flags]) + row["text"].encode()


SEEDS = {"extract_fuzz": (("extract", "split", "grade"), extract_seed)}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SEEDS:
        sys.exit(f"usage: make_seeds.py {{{','.join(SEEDS)}}} FOLDER")
    operations, seed = SEEDS[sys.argv[1]]
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in TABLE.read_text().splitlines()]
    for row in rows:
        if row["op"] in operations:
            (folder / row["id"]).write_bytes(seed(row))


if __name__ == "__main__":
    main()
