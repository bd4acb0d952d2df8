#!/usr/bin/env python3
"""How well each signal of --confidence tells right paths from wrong ones of the same question.

  hyper eval --suite tinymath --split tuning --levels 2,3,4 --questions 120 --methods sc --width 64 \\
    --align off --study pool.db
  python3 bench/signals.py pool.db [--windows 1,8,16,32] [--tails 24] [--levels 3,4]

Prints a Markdown table: the area under the ROC curve of right against wrong paths, computed within
each question and averaged over the questions that have both; 0.5 is chance. The standard error is
over questions. Standard library only. A path is right where its answer equals the question's, as
texts: enough for integers and letters.
"""
import argparse
import array
import bisect
import math
import sqlite3
import sys

SERIES = ("confidence", "confidence_top20", "logprob", "entropy", "mean_logprob")
# The value whose arithmetic mean orders paths as the signal's own mean does; larger is surer.
SIGNALS = {
    "alternatives": lambda s: s["confidence"],
    "topk (20)": lambda s: s["confidence_top20"],
    "logprob": lambda s: s["logprob"],
    "surprise": lambda s: [p + h for p, h in zip(s["logprob"], s["entropy"])],
    "entropy": lambda s: [-h for h in s["entropy"]],
    "self-certainty": lambda s: [-p for p in s["mean_logprob"]],
}


def floats(data):
    values = array.array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return list(values)


def lowest_window(values, window):
    if len(values) < window:
        return sum(values) / len(values)
    total = lowest = sum(values[:window])
    for at in range(window, len(values)):
        total += values[at] - values[at - window]
        lowest = min(lowest, total)
    return lowest / window


def auroc(right, wrong):
    ordered = sorted(wrong)
    wins = sum(bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value)
               for value in right)
    return wins / (2 * len(right) * len(wrong))


def questions(file, levels):
    """By question of these levels (none: of all): whether each path is right, and its series."""
    study = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    golds = study.execute('SELECT items.id, gold, questions."group" FROM items JOIN questions '
                          "ON questions.id = items.question WHERE status = 'done'").fetchall()
    for item, gold, level in golds:
        if levels and level not in levels:
            continue
        series = {}
        rows = study.execute("SELECT path, name, data FROM series WHERE item = ?", (item,))
        for path, name, data in rows:
            if name in SERIES:
                series.setdefault(path, {})[name] = floats(data)
        paths = study.execute("SELECT path, answer FROM paths WHERE item = ? AND status = 'finished'",
                              (item,))
        yield [(answer == gold, series[path]) for path, answer in paths if path in series]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("--windows", default="1,8,16,32")
    parser.add_argument("--tails", default="", help="also the mean of the last so many tokens")
    parser.add_argument("--levels", default="", help="only these groups, such as 3,4")
    args = parser.parse_args()
    windows = [int(text) for text in args.windows.split(",")]
    scores = {"mean": lambda values: sum(values) / len(values)}
    for window in windows:
        scores[f"lowest of {window}"] = lambda values, w=window: lowest_window(values, w)
    for tail in map(int, filter(None, args.tails.split(","))):
        scores[f"last {tail}"] = lambda values, n=tail: sum(values[-n:]) / len(values[-n:])
    areas = {}
    mixed = total = 0
    for paths in questions(args.study, [level for level in args.levels.split(",") if level]):
        total += 1
        if len({right for right, _ in paths}) < 2:
            continue
        mixed += 1
        for signal, of in SIGNALS.items():
            tokens = [(right, of(series)) for right, series in paths]
            for name, score in scores.items():
                values = [(right, score(each)) for right, each in tokens]
                areas.setdefault((signal, name), []).append(
                    auroc([v for right, v in values if right], [v for right, v in values if not right]))
        lengths = [(right, -len(series["logprob"])) for right, series in paths]
        areas.setdefault(("shorter paths", "mean"), []).append(
            auroc([v for right, v in lengths if right], [v for right, v in lengths if not right]))
    print(f"{mixed} of {total} questions have right and wrong paths.\n")
    print("| signal | " + " | ".join(scores) + " |")
    print("|---|" + "---|" * len(scores))
    for signal in [*SIGNALS, "shorter paths"]:
        cells = []
        for name in scores:
            values = areas.get((signal, name))
            if values is None:
                cells.append("")
                continue
            mean = sum(values) / len(values)
            spread = sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
            cells.append(f"{mean:.3f} +- {math.sqrt(spread / len(values)):.3f}")
        print(f"| {signal} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
