#!/usr/bin/env python3
"""What self-consistency gains from width, by level, out of one recorded pool.

  hyper eval --suite tinymath --split tuning --levels hunt-1,hunt-2 --methods sc --width 64 \\
    --align off --temperature 0.8 --study pool.db
  python3 bench/widths.py pool.db [--widths 4,8,16,32,64]

Prints a Markdown table, a row for each level: the share of right paths, the share of questions with
a right path, mean tokens of a path, how often the wrong paths of a question agree, and the accuracy
of the majority of n paths. The majority is the mean over random subsets of the recorded paths, so
it has no bias; a tie counts by the right answer's share of it. Answers are compared as texts: enough
for integers and letters. A path without an answer is wrong and does not vote. Standard library only.
"""
import argparse
import collections
import random
import sqlite3

DRAWS = 400


def pools(file):
    """By level: for each question (gold, [(answer or None, tokens)])."""
    study = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    rows = study.execute(
        'SELECT q."group", items.id, gold, p.answer, p.tokens, p.status FROM items '
        "JOIN questions q ON q.id = items.question JOIN paths p ON p.item = items.id "
        "WHERE items.status = 'done' ORDER BY items.id, p.path")
    levels = {}
    for level, item, gold, answer, tokens, status in rows:
        paths = levels.setdefault(level, {}).setdefault(item, (gold, []))[1]
        paths.append((answer if status == "finished" else None, tokens))
    return {level: list(questions.values()) for level, questions in sorted(levels.items())}


def majority(gold, answers):
    """1 where `gold` has most votes, its share of a tie, else 0."""
    votes = collections.Counter(answer for answer in answers if answer is not None)
    most = max(votes.values(), default=0)
    return (votes[gold] == most) / list(votes.values()).count(most) if most else 0


def majority_of(width, gold, answers, draw):
    """The expected majority of `width` paths out of those recorded; None where there are fewer."""
    if width > len(answers):
        return None
    draws = DRAWS if width < len(answers) else 1
    return sum(majority(gold, draw.sample(answers, width)) for _ in range(draws)) / draws


def agreement(gold, answers):
    """The chance that two wrong answers are the same; None with fewer than two."""
    wrong = collections.Counter(answer for answer in answers if answer not in (None, gold))
    total = sum(wrong.values())
    pairs = sum(count * (count - 1) for count in wrong.values())
    return pairs / (total * (total - 1)) if total > 1 else None


def mean(values):
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--widths", default="4,8,16,32,64")
    args = parser.parse_args()
    widths = [int(text) for text in args.widths.split(",")]
    head = ["level", "questions", "one path", "some path", "tokens", "wrong agree", *widths]
    print("| " + " | ".join(map(str, head)) + " |\n|" + "---|" * len(head))
    for level, questions in pools(args.study).items():
        draw = random.Random(1)
        answers = [(gold, [answer for answer, _ in paths]) for gold, paths in questions]
        values = [
            mean([answer == gold for gold, all_of in answers for answer in all_of]),
            mean([gold in all_of for gold, all_of in answers]),
            mean([tokens for _, paths in questions for _, tokens in paths]),
            mean([agreement(*each) for each in answers]),
            *(mean([majority_of(width, *each, draw) for each in answers]) for width in widths),
        ]
        cells = ["" if value is None else f"{value:.3f}" if value <= 1 else f"{value:.0f}"
                 for value in values]
        print("| " + " | ".join([level, str(len(questions)), *cells]) + " |")


if __name__ == "__main__":
    main()
