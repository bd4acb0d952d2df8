#!/usr/bin/env python3
"""Chooses the preset `short` on tuning questions: threshold, window and interval T.

Three steps, each resumed by the same command where it was cut off; one thread, at low priority:
  1. records one pool of self-consistency paths on tuning questions of levels 2 to 4;
  2. replays pruning on draws of that pool for every threshold and window, nothing decoded;
  3. decodes HyPER itself for each T, at the threshold and window that were chosen.
The results go to --log as Markdown, a section for docs/log/<version>.md. The rule of choice is
fixed before the numbers are seen. The paper's share of the warm-up (10 of 16, so 5 of 8) stays,
unless another threshold is better on at least 100 questions by more than the 95 % interval of the
paired difference. The window is the one with the highest accuracy at that threshold, or the cheaper
of two that are equal. T stays 8 unless another value is better by more than that interval.

  python3 bench/choose_short.py --work tune --log short-preset.md
  python3 bench/choose_short.py --work tune --log short-preset.md --window 16 --live 4,8,16
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARMUP = 8
WIDTH = 32
PAPER_SHARE = "top:5"
INTERVAL = "8"
# Of the tuning questions: the seeds of the evaluation questions are others.
QUESTIONS = ["--suite", "tinymath", "--split", "tuning", "--levels", "2,3,4"]


def hyper(args, *arguments):
    """Runs hyper; its standard output. What it says on the way goes through."""
    command = ["nice", "-n", str(args.nice), args.hyper, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def record(args):
    """Step 1: independent paths of every question."""
    hyper(args, "eval", *QUESTIONS, "--questions", str(args.questions), "--methods", "sc",
          "--width", str(args.paths), "--align", "off", "--seed", str(args.seed), "--threads", "1",
          "--study", str(args.work / "pool.db"))


def replay_label(threshold, window):
    # A colon would end the label.
    return f"{threshold.replace(':', ' ')}, window {window}"


def replay(args):
    """Step 2: rows of accuracy and cost. HyPER without its controller: its warm-up, its threshold,
    its confidence and its vote on DeepConf's schedule, which needs no path that is not stored."""
    study = args.work / "replay.db"
    command = ["eval", "--pool", f"{args.work / 'pool.db'}:sc", "--methods", "sc", "--width",
               str(WARMUP + WIDTH), "--resamples", str(args.resamples), "--study", str(study),
               "--format", "json"]
    for window in args.windows:
        for threshold in args.thresholds:
            options = (f"threshold={threshold},window={window},warmup={WARMUP},width={WIDTH},"
                       "includes-warmup=false,"
                       "consensus=0,vote=length_confidence,confidence=alternatives,"
                       "confidence-count=8")
            command += ["--row", f"{replay_label(threshold, window)}=deepconf-top10:{options}"]
    return json.loads(hyper(args, *command))["rows"]


def compare(args, study, first, second):
    """Difference of two rows over the same questions, in points, with its 95 % interval."""
    table = hyper(args, "compare", "--study", str(args.work / study), first, second,
                  "--format", "json")
    return json.loads(table)["rows"][0]


def live(args, threshold, window):
    """Step 3: HyPER, one row for each T."""
    rows = ",".join(f"T {interval}=hyper:interval={interval}" for interval in args.live)
    table = hyper(args, "eval", *QUESTIONS, "--questions", str(args.live_questions), "--seed",
                  str(args.seed + 1), "--threads", "1", "--align", "off", "--format", "json",
                  "--study", str(args.work / "live.db"), "--threshold", threshold, "--window", window,
                  "--methods", rows)
    return json.loads(table)["rows"]


def line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def accuracy_lines(rows, key):
    lines = [line(["row", "Acc", "95 % interval", "Token", "abs tokens", "mean paths"]),
             line(["---"] * 6)]
    for row in rows:
        acc = (f"{row['Acc']:.1f}" if row.get("Acc") is not None
               else f"{row['Acc low']:.1f} to {row['Acc high']:.1f}")
        lines.append(line([row["Method"], acc,
                           f"{row[key + ' low']:.1f} to {row[key + ' high']:.1f}",
                           f"{row['Token']:.2f}" if row.get("Token") else "-",
                           f"{row['Abs']:.0f}",
                           f"{row['Mean paths']:.1f}"]))
    return lines


def difference_lines(rows):
    lines = [line(["A", "B", "A - B, points", "95 % interval", "p"]), line(["---"] * 5)]
    for row in rows:
        lines.append(line([row["A"], row["B"], f"{row['A - B']:+.1f}",
                           f"{row['95% bootstrap low']:.1f} to {row['95% bootstrap high']:.1f}",
                           f"{row['p bootstrap']:.3f}"]))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hyper", default=str(ROOT / "build/hyper"))
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder of the studies")
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--paths", type=int, default=64)
    parser.add_argument("--seed", type=int, default=20260)
    parser.add_argument("--resamples", type=int, default=8)
    parser.add_argument("--thresholds", type=lambda text: text.split(","),
                        default=["top:2", "top:3", "top:5", "top:6", "top:8"])
    parser.add_argument("--windows", type=lambda text: text.split(","),
                        default=["8", "16", "32", "64"])
    parser.add_argument("--window", help="decode HyPER at this window [none]")
    parser.add_argument("--threshold", default=PAPER_SHARE)
    parser.add_argument("--live", type=lambda text: text.split(","), default=["4", "8", "16"])
    parser.add_argument("--live-questions", type=int, default=100)
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--no-record", action="store_true", help="take the pool as far as it is")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    if not args.no_record:
        record(args)
    rows = replay(args)
    questions = rows[0]["Questions"]
    text = ["## Preset `short`: what the tuning questions say", "",
            f"`python3 bench/choose_short.py {' '.join(sys.argv[1:])}`", "",
            f"{questions} tuning questions of levels 2 to 4, {args.paths} stored paths each, "
            f"{args.resamples} draws of {WARMUP} warm-up paths and {WIDTH} in all for every row, "
            "the same draws for all rows; SC votes on "
            f"{WARMUP + WIDTH} of them.", ""]
    text += accuracy_lines(rows, "95% interval") + [""]
    differences = []
    for window in args.windows:
        for threshold in args.thresholds:
            if threshold != PAPER_SHARE:
                differences.append(compare(args, "replay.db", replay_label(threshold, window),
                                           replay_label(PAPER_SHARE, window)))
    text += ["Against the paper's share at the same window:", ""]
    text += difference_lines(differences) + [""]
    text += ["Windows at the paper's share:", ""]
    text += difference_lines([compare(args, "replay.db", replay_label(PAPER_SHARE, window),
                                      replay_label(PAPER_SHARE, args.windows[0]))
                              for window in args.windows[1:]]) + [""]
    if args.window:
        rows = live(args, args.threshold, args.window)
        text += [f"HyPER itself on {rows[0]['Questions']} of the questions, another seed, threshold "
                 f"{args.threshold}, window {args.window}:", ""]
        text += accuracy_lines(rows, "95% interval") + [""]
        others = [interval for interval in args.live if interval != INTERVAL]
        text += difference_lines([compare(args, "live.db", f"T {interval}", f"T {INTERVAL}")
                                  for interval in others]) + [""]
    args.log.parent.mkdir(parents=True, exist_ok=True)
    args.log.write_text("\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    main()
