#!/usr/bin/env python3
"""Are right paths longer than wrong ones, before and after pruning? (What Eq. 6's length term reads.)

  bench/path_lengths.py POOL.db [--window 16]

POOL.db is a study of self-consistency paths (bench/choose_short.py makes one). Nothing is decoded: per
question and draw 8 paths are the warm-up, 32 more the pool, of which a path is pruned at its first full
window whose mean confidence is below the threshold. Per question the mean length of right answers over
that of wrong ones, then the mean over the questions that have both. Answers are compared as texts.
"""
import argparse
import random
import sqlite3
import struct

WARMUP, WIDTH, DRAWS = 8, 32, 8


def lowest_window(confidences, window):
    sums, lowest = 0.0, None
    for at, value in enumerate(confidences):
        sums += value - (confidences[at - window] if at >= window else 0.0)
        if at + 1 >= window:
            lowest = sums if lowest is None else min(lowest, sums)
    return sum(confidences) / len(confidences) if lowest is None else lowest / window


def questions(path):
    """By question: (right, tokens, confidences) of each path that has an answer or not."""
    study = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = {}
    for question, gold, answer, tokens, data in study.execute(
            "SELECT i.question, q.gold, p.answer, p.tokens, s.data FROM items i "
            "JOIN questions q ON q.id = i.question JOIN paths p ON p.item = i.id "
            "JOIN series s ON s.item = i.id AND s.path = p.path AND s.name = 'confidence' "
            "WHERE i.repeat = 0 ORDER BY i.question, p.path"):
        confidences = struct.unpack(f"<{len(data) // 4}f", data)
        right = None if answer is None else answer == gold
        found.setdefault(question, []).append((right, tokens, confidences))
    return list(found.values())


def mean(values):
    return sum(values) / len(values)


def ratio(paths):
    right = [tokens for is_right, tokens, _ in paths if is_right]
    wrong = [tokens for is_right, tokens, _ in paths if is_right is False]
    return mean(right) / mean(wrong) if right and wrong else None


def voters(paths, kept, window, draw):
    """The paths of a draw that vote; `kept`: the n of top:n, 0 for no threshold."""
    order = draw.sample(paths, WARMUP + WIDTH)
    warmup, pool = order[:WARMUP], order[WARMUP:]
    if kept == 0:
        return order
    lowest = sorted((lowest_window(path[2], window) for path in warmup), reverse=True)
    # A path of fewer tokens than the window is never pruned.
    return warmup + [path for path in pool if len(path[2]) < window or
                     lowest_window(path[2], window) >= lowest[kept - 1]]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("pool")
    arguments.add_argument("--window", type=int, default=16)
    options = arguments.parse_args()
    pools = questions(options.pool)
    print(f"{len(pools)} questions, {DRAWS} draws, window {options.window}")
    for kept in (0, 3, 5):
        draw = random.Random(1)
        of_questions = []
        for paths in pools:
            ratios = [ratio(voters(paths, kept, options.window, draw)) for _ in range(DRAWS)]
            ratios = [value for value in ratios if value is not None]
            if ratios:
                of_questions.append(mean(ratios))
        name = f"top:{kept} of {WARMUP}" if kept else "no threshold"
        print(f"{name}: right over wrong {mean(of_questions):.3f}, "
              f"{len(of_questions)} questions with both")


if __name__ == "__main__":
    main()
