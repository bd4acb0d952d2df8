#!/usr/bin/env python3
"""What an action of the controller is worth: the change in right answers, and the tokens it takes.

  python3 bench/action_values.py rows --decisions 0,1,2,3 > rows.txt
  xargs hyper eval --suite tinymath --split tuning --levels 2,3,4 --questions 60 --repeats 4 \\
    --study values.db < rows.txt
  python3 bench/action_values.py values.db [--write profile.json]

Every row of the study is HyPER with one decision forced to one action, and no action after it. Equal
seeds give equal runs up to that decision, so each state is continued once with every action. The
table compares an action with "none" at the same states, for the states in which it changed the pool;
intervals of 95 % are a bootstrap over questions. The last lines are the text of --action-values: an
action is in it where its gain is above 0 beyond noise, with slopes over the statistics only where
these predict the gain on questions that were left out. --write puts it into a profile's options.
Standard library only.
"""
import argparse
import json
import random
import sqlite3
import sys

ACTIONS = ("single_token", "multi_token", "branch")
STATISTICS = ("confidence", "entropy", "consensus", "distribution_diversity", "sequence_diversity",
              "diversity", "variance")
RIDGE = 10.0  # states' worth of a slope of 0


def rows(decisions):
    for decision in decisions:
        for action in ("none",) + ACTIONS:
            yield (f"--row \"{decision} {action}="
                   f"hyper:force-decision={decision},force-action={action}\"")


def states(file):
    """By decision, question and repeat: what each action gave."""
    study = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    columns = ", ".join(f"d.normalised_{name}" for name in STATISTICS)
    found = {}
    for settings, run in study.execute("SELECT settings, id FROM runs").fetchall():
        options = json.loads(settings)
        decision = int(options.get("force-decision", -1))
        if decision < 0:
            continue
        query = (f"SELECT i.question, i.repeat, g.verdict, l.generated + l.extra_routes + l.probe + "
                 f"l.judge + l.value, d.acted, d.expansion, {columns} FROM items i "
                 "JOIN grades g ON g.item = i.id JOIN ledgers l ON l.item = i.id "
                 "JOIN decisions d ON d.item = i.id AND d.step = ? "
                 "WHERE i.run = ? AND i.status = 'done' AND g.verdict IN ('right', 'wrong')")
        for line in study.execute(query, (decision, run)):
            question, repeat, verdict, tokens, acted, expansion = line[:6]
            state = found.setdefault((decision, question, repeat), {})
            state[options["force-action"]] = {
                "right": verdict == "right", "tokens": tokens, "acted": bool(acted),
                "expansion": expansion, "statistics": line[6:]}
    return found


def pairs(found, action):
    """The states in which the action changed the pool: question, gain, tokens, statistics."""
    list_of = []
    for (_, question, _), state in sorted(found.items()):
        base, other = state.get("none"), state.get(action)
        if base is None or other is None or not other["acted"]:
            continue
        if base["statistics"] != other["statistics"]:
            sys.exit("the same state has two statistics: the rows of the study do not share their "
                     "runs; record it with the same seed and --determinism strict")
        list_of.append((question, other["right"] - base["right"], other["tokens"] - base["tokens"],
                        base["statistics"]))
    return list_of


def interval(values, draws=2000):
    """Mean of (question, number), and its interval by a bootstrap over questions."""
    by_question = {}
    for question, value in values:
        by_question.setdefault(question, []).append(value)
    groups = [(sum(v), len(v)) for v in by_question.values()]
    mean = sum(g[0] for g in groups) / sum(g[1] for g in groups)
    source = random.Random(1)
    means = []
    for _ in range(draws):
        drawn = source.choices(groups, k=len(groups))
        means.append(sum(g[0] for g in drawn) / sum(g[1] for g in drawn))
    means.sort()
    return mean, means[int(0.025 * draws)], means[int(0.975 * draws) - 1]


def ridge(samples):
    """Gain as intercept + slopes, the slopes shrunk."""
    size = len(STATISTICS) + 1
    matrix = [[0.0] * size for _ in range(size)]
    right = [0.0] * size
    for _, gain, _, statistics in samples:
        row = [1.0] + [s or 0.0 for s in statistics]
        for i in range(size):
            right[i] += row[i] * gain
            for j in range(size):
                matrix[i][j] += row[i] * row[j]
    for i in range(1, size):
        matrix[i][i] += RIDGE
    for i in range(size):
        for j in range(i + 1, size):
            factor = matrix[j][i] / matrix[i][i]
            for k in range(size):
                matrix[j][k] -= factor * matrix[i][k]
            right[j] -= factor * right[i]
    for i in reversed(range(size)):
        right[i] = (right[i] - sum(matrix[i][k] * right[k] for k in range(i + 1, size)))
        right[i] /= matrix[i][i]
    return right


def predicted(model, statistics):
    return model[0] + sum(m * (s or 0.0) for m, s in zip(model[1:], statistics))


def predicts(samples):
    """Whether slopes predict the gain of left-out questions better than the mean does."""
    questions = sorted({s[0] for s in samples})
    with_slopes = with_mean = 0.0
    for fold in range(5):
        held = set(questions[fold::5])
        rest = [s for s in samples if s[0] not in held]
        if not rest:
            return False
        model = ridge(rest)
        mean = sum(s[1] for s in rest) / len(rest)
        for s in samples:
            if s[0] in held:
                with_slopes += (s[1] - predicted(model, s[3])) ** 2
                with_mean += (s[1] - mean) ** 2
    return with_slopes < with_mean


def of_thirds(samples, place):
    """The gain in the lower, middle and upper third of a statistic."""
    ordered = sorted(samples, key=lambda s: s[3][place] or 0.0)
    parts = [ordered[len(ordered) * i // 3:len(ordered) * (i + 1) // 3] for i in range(3)]
    return [interval([(s[0], 100.0 * s[1]) for s in part]) if part else None for part in parts]


def text_of(value):
    return "-" if value is None else f"{value[0]:+.1f} ({value[1]:+.1f} to {value[2]:+.1f})"


def report(found):
    print(f"{len(found)} states of {len({key[1] for key in found})} questions\n")
    print("| action | states | right, points | tokens | points per 1,000 tokens |\n|---|---|---|---|---|")
    table = {}
    for action in ACTIONS:
        samples = pairs(found, action)
        if not samples:
            print(f"| {action} | 0 | - | - | - |")
            continue
        gain = interval([(s[0], 100.0 * s[1]) for s in samples])
        cost = interval([(s[0], s[2]) for s in samples])
        rate = 1000 * gain[0] / cost[0] if cost[0] > 0 else float("nan")
        print(f"| {action} | {len(samples)} | {text_of(gain)} | {text_of(cost)} | {rate:+.2f} |")
        table[action] = (samples, gain, cost)
    print("\n| action | statistic | lower third | middle | upper third |\n|---|---|---|---|---|")
    for action, (samples, _, _) in table.items():
        for place, name in enumerate(STATISTICS):
            thirds = " | ".join(text_of(value) for value in of_thirds(samples, place))
            print(f"| {action} | {name} | {thirds} |")
    entries = []
    for action, (samples, gain, cost) in table.items():
        if gain[1] <= 0:
            continue  # it may be worth nothing
        slopes = predicts(samples)
        mean = [gain[0] / 100] + [0.0] * len(STATISTICS)
        model = ridge(samples) if slopes else mean
        entries.append(f"{action}=" + ",".join(f"{v:.6g}" for v in [max(cost[0], 1.0)] + model))
    return " ".join(entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", help="the study, or 'rows' to print the rows that make one")
    parser.add_argument("--decisions", default="0,1,2,3", help="for rows")
    parser.add_argument("--write", metavar="FILE", help="a profile that gets the table")
    arguments = parser.parse_args()
    if arguments.study == "rows":
        print("\n".join(rows(int(d) for d in arguments.decisions.split(","))))
        return
    table = report(states(arguments.study))
    if not table:
        print("\nno action gains beyond noise: --controller value would never act")
        return
    print(f"\n--controller value --action-values '{table}'")
    if arguments.write:
        with open(arguments.write, encoding="utf-8") as file:
            profile = json.load(file)
        profile["options"].update({"controller": "value", "action-values": table})
        with open(arguments.write, "w", encoding="utf-8") as file:
            json.dump(profile, file, indent=2)


if __name__ == "__main__":
    main()
