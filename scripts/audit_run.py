#!/usr/bin/env python3
"""Recomputes a recorded run from its trace and the paper, and compares.

  hyper run QUESTION --model M --trace FILE ...
  scripts/audit_run.py FILE...

Standard library only; nothing of hyper is used but the trace. Computed again: statistics, X_max,
threshold, scores, actions, r_t, routes, pruning, merges, ledger, stops, who votes, with what weight, and
the score and share of every answer. What a trace cannot tell is believed: the log-probabilities, D_dist at
warm-up positions, weights by P(True), a judge or a reward model, and which leaves ToT and MCTS kept.
Answers are compared as texts.
Prints what differs and what was checked; the exit status is 1 where anything differs.
"""
import json
import math
import sys
from collections import Counter
from fractions import Fraction

ACTIONS = ("none", "single_token", "multi_token", "branch")
ENDED = ("finished", "length")
CLOSE = 2e-5  # log-probabilities and confidences are floats
FLOOR = -60.0
TREES = ("tot", "mcts", "rebase", "ets")
SCORED = ("self-certainty", "bon", "deepconf-offline", "rpc")
WEIGHED = ("weighted", "best", "borda")
GEOMETRIC = ("logprob", "surprise", "entropy")  # signals whose mean over tokens is exp(mean log c)


def mean(values):
    return sum(values) / len(values) if values else math.nan


def quantile(values, q):
    """Between the two nearest ranks."""
    ordered = sorted(values)
    rank = q * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def geometric_mean(values):
    return math.exp(mean([max(math.log(value), FLOOR) if value > 0 else FLOOR
                          for value in values])) if values else math.nan


def known(values):
    return [value for value in values if value is not None]


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def shares(top, k):
    weights = {token: math.exp(logprob) for token, logprob in top[:k]}
    total = sum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def entropy(top, k):
    return -sum(p * math.log(p) for p in shares(top, k).values() if p > 0)


def confidence(top, chosen, count, keep_chosen):
    values = [max(logprob, FLOOR) for token, logprob in top if keep_chosen or token != chosen]
    return -mean(values[:count])


def signal_of(signal, token):
    """The confidence of a token's record under a signal that its other members give."""
    logprob, entropy, mean_logprob = (token[key] for key in ("logprob", "entropy", "mean_logprob"))
    if signal == "self-certainty":
        return -max(mean_logprob, FLOOR)
    exponent = {"logprob": lambda: max(logprob, FLOOR), "entropy": lambda: -entropy,
                "surprise": lambda: max(logprob, FLOOR) + entropy}[signal]
    return math.exp(exponent())


def divergence(p, q):
    total = 0.0
    for token in p.keys() | q.keys():
        x, y = p.get(token, 0.0), q.get(token, 0.0)
        middle = (x + y) / 2
        total += sum(value * math.log(value / middle) / 2 for value in (x, y) if value > 0)
    return total


def mean_of_pairs(items, distance):
    pairs = [distance(p, q) for i, p in enumerate(items) for q in items[i + 1:]]
    return mean(pairs) if pairs else 0.0


class Path:
    def __init__(self, record, parent, average):
        self.average = average         # how confidences of several tokens become one
        self.id = record["path"]
        self.parent = record["parent"]
        self.start = record["position"]
        self.warmup = record["warmup"]
        self.kind = record["kind"]
        self.reasons = self.kind == "reasoning"
        inherited = parent.tokens[:self.start] if parent else []
        self.tokens = list(inherited)  # records
        self.end = None                # the first finish record
        self.last = None               # the last one: a path that ended may lose its vote

    def __len__(self):
        return len(self.tokens)

    def column(self, name):
        return [token[name] for token in self.tokens]

    def window_means(self, window):
        """By token: the mean of the full window that ends there; None before the first."""
        values = self.column("confidence")
        return [None if at + 1 < window else self.average(known(values[at + 1 - window:at + 1]))
                for at in range(len(values))]

    def running_means(self, window):
        """By token: the mean of the last `window` known confidences, or of all while there are fewer."""
        values = self.column("confidence")
        return [self.average(known(values[:at + 1])[-window:]) for at in range(len(values))]

    def lowest_window(self, window):
        full = known(self.window_means(window))
        return min(full) if full else self.mean_confidence()

    def mean_confidence(self, first=0, end=None):
        return self.average(known(self.column("confidence")[first:end]))


class Run:
    def __init__(self, records):
        self.records = records
        self.head = records[0]
        self.options = self.head["options"]
        self.signal = self.options["confidence"]
        self.average = geometric_mean if self.signal in GEOMETRIC else mean
        self.paths = {}
        self.trouble = []
        self.checked = Counter()
        self.warmup = None
        self.step_of_end = {}

    def expect(self, what, ours, theirs, close=CLOSE):
        self.checked[what.split(":")[0]] += 1
        same = ours == theirs
        if isinstance(ours, float) and isinstance(theirs, (float, int)):
            same = abs(ours - theirs) <= close * max(1.0, abs(ours))
        if not same:
            self.trouble.append(f"{what}: recorded {theirs!r}, computed {ours!r}")

    def warmup_count(self):
        wanted, width = self.options["warmup"], self.options["width"]
        return wanted if width // 2 >= wanted else max(2, width // 2)

    def pool_width(self):
        own = self.warmup_count() if self.options["includes-warmup"] else 0
        return self.options["width"] - own

    def suffix(self, path, length):
        size = self.options["suffix"] or self.options["interval"]
        return path.column("token")[max(0, length - size):length]

    def sequence_diversity(self, paths, length):
        suffixes = [self.suffix(path, length) for path in paths]
        return mean_of_pairs(suffixes,
                             lambda a, b: levenshtein(a, b) / max(len(a), len(b), 1))

    def statistics(self, paths, length, d_dist):
        """App. A at one position, out of the tokens' confidences and entropies."""
        at = [path.tokens[length - 1] for path in paths]
        c = [token["confidence"] for token in at if token["confidence"] is not None]
        chosen = Counter(token["token"] for token in at)
        eta = self.options["eta"]
        d_seq = self.sequence_diversity(paths, length)
        return {"confidence": mean(c), "entropy": mean(known([t["entropy"] for t in at])),
                "consensus": max(chosen.values()) / len(at), "distribution_diversity": d_dist,
                "sequence_diversity": d_seq, "diversity": eta * d_dist + (1 - eta) * d_seq,
                "variance": mean([(x - mean(c)) ** 2 for x in c])}

    # The records one after the other.

    def audit(self):
        running, late, family_due = {}, set(), []
        for number, record in enumerate(self.records):
            kind = record["record"]
            if kind == "path":
                path = Path(record, self.paths.get(record["parent"]), self.average)
                self.paths[path.id] = running[path.id] = path
            elif kind == "token":
                self.paths[record["path"]].tokens.append(record)
            elif kind == "finish":
                path = self.paths[record["path"]]
                path.end = path.end or record
                path.last = record
                running.pop(path.id, None)
            elif kind == "warmup":
                self.warmup = record
                self.check_warmup()
                # Without a barrier the rest of the warm-up runs on beside the pool.
                late = set(running)
            elif kind == "decision":
                before = [path for path in running.values()
                          if path.start < record["position"] and path.id not in late]
                self.check_decision(record, before)
                if record["action"] == "multi_token" and record["acted"]:
                    family_due.append((record, before))
            elif kind == "stop":
                self.check_stop(record, running.values(), self.records[number + 1:])
        shortage = any(record["record"] == "shortage" for record in self.records)
        if not shortage:
            for decision, roots in family_due:
                self.check_families(decision, roots)
        self.check_signals()
        self.check_pruning()
        self.check_windows()
        self.check_routes()
        self.check_ledger()
        self.check_vote()
        return self.trouble

    def check_warmup(self):
        paths = [path for path in self.paths.values() if path.warmup]
        positions = self.warmup["positions"]
        longest = max(len(path) for path in paths)
        self.expect("warm-up: positions", longest, len(positions["paths"]))
        for length in range(1, longest + 1):
            alive = [path for path in paths if len(path) >= length]
            self.expect(f"warm-up: paths at {length}", len(alive), positions["paths"][length - 1])
            d_dist = positions["distribution_diversity"][length - 1]
            for name, value in self.statistics(alive, length, d_dist).items():
                self.expect(f"warm-up: {name} at {length}", value, positions[name][length - 1])
        for name in ("confidence", "entropy", "diversity", "variance"):
            largest = max(positions[name])
            self.expect(f"X_max: {name}", largest, self.warmup[name]["value"], 1e-9)
        self.check_threshold(paths)

    def check_threshold(self, paths):
        rule = self.options["threshold"]
        if rule == "off":
            self.expect("threshold", None, self.warmup["threshold"])
            return
        kind, number = rule.split(":")
        lowest = sorted(path.lowest_window(self.options["window"]) for path in paths
                        if path.end and path.end["status"] in ENDED)
        if kind == "top":
            n = int(number)
            if self.warmup_count() != self.options["warmup"]:
                # Rounded half away from zero.
                n = max(1, math.floor(n * self.warmup_count() / self.options["warmup"] + 0.5))
            expected = lowest[-min(n, len(lowest))]
        else:
            expected = quantile(lowest, float(number) / 100)
        self.expect("threshold", expected, self.warmup["threshold"])

    def check_decision(self, decision, paths):
        step, position = decision["step"], decision["position"]
        name = f"decision {step}"
        k = self.options["entropy-count"]
        tops = {reading["path"]: reading["top"] for reading in decision["readings"]}
        self.expect(f"readings: {name}", sorted(path.id for path in paths), sorted(tops))
        self.expect(f"position: {name}", 1 + step * self.options["interval"], position)
        for path in paths:
            token, top = path.tokens[position - 1], tops[path.id]
            self.expect(f"entropy: {name}, path {path.id}", entropy(top, k), token["entropy"])
            if self.signal in ("alternatives", "topk"):
                self.expect(f"confidence: {name}, path {path.id}",
                            confidence(top, token["token"], self.options["confidence-count"],
                                       self.signal == "topk"), token["confidence"])
        distributions = [shares(tops[path.id], k) for path in paths]
        raw = self.statistics(paths, position, mean_of_pairs(distributions, divergence))
        for key, value in raw.items():
            self.expect(f"statistics: {name}, {key}", value, decision["raw"][key])
        normal = dict(raw)
        for key in ("confidence", "entropy", "diversity", "variance"):
            largest = self.warmup[key]["value"]
            normal[key] = min(max(raw[key], 0) / largest, 1.0) if largest > 0 else 0.0
            self.expect(f"normalised: {name}, {key}", normal[key], decision["normalised"][key])
        c, h, d, v, beta = (normal[key] for key in ("confidence", "entropy", "diversity",
                                                    "variance", "consensus"))
        scores = dict(zip(ACTIONS, ((c + (1 - h) + d) / 3, ((1 - c) + h + (1 - beta)) / 3,
                                    ((1 - d) + (1 - c) + v) / 3, ((1 - d) + (1 - beta)) / 2)))
        allowed = set(self.options["actions"].split(",")) | {"none"}
        for action in ACTIONS:
            if decision["scores"][action] is not None:
                self.expect(f"scores: {name}, {action}", scores[action],
                            decision["scores"][action])
                self.expect(f"allowed: {name}, {action}", True, action in allowed)
        self.check_action(decision, scores)
        survivors, width = len(paths), self.pool_width()
        self.expect(f"paths: {name}", survivors, decision["paths_before"])
        self.expect(f"r_t: {name}", max(1, -(-width // survivors)), decision["expansion"])
        could = decision["action"] != "none" and decision["expansion"] > 1
        if not could:
            self.expect(f"acted: {name}", False, decision["acted"])
        self.expect(f"acted: {name}, lanes", decision["lanes_after"] > survivors,
                    decision["acted"])
        self.check_effect(decision, survivors)

    def check_action(self, decision, scores):
        name = f"action: decision {decision['step']}"
        method = self.head["method"]
        fixed = {"single-token-only": "single_token", "multi-token-only": "multi_token"}
        possible = [action for action in ACTIONS if decision["scores"][action] is not None]
        if method in fixed:
            action = fixed[method] if fixed[method] in possible else "none"
        elif method == "manual":
            lengths = sorted(len(p) for p in self.paths.values()
                             if p.warmup and p.end["status"] == "finished")
            lengths = lengths or sorted(len(p) for p in self.paths.values() if p.warmup)
            half = len(lengths) // 2
            median = lengths[half] if len(lengths) % 2 else mean(lengths[half - 1:half + 1])
            action = "multi_token" if decision["position"] < median / 2 else "single_token"
            action = action if action in possible else "none"
        else:
            action = max(possible, key=lambda a: (scores[a], -ACTIONS.index(a)))
            best = scores[action]
            if sum(abs(scores[a] - best) < CLOSE for a in possible) > 1:
                return  # too close to call in floats
        self.expect(name, action, decision["action"])

    def check_effect(self, decision, survivors):
        name = f"effect: decision {decision['step']}"
        action, expansion = decision["action"], decision["expansion"]
        extra = decision["lanes_after"] - survivors
        if action == "branch":
            self.expect(f"{name}, width", True,
                        decision["paths_after"] <= max(self.options["width"], survivors))
            self.expect(f"{name}, branches", decision["lanes_after"], decision["paths_after"])
        else:
            self.expect(f"{name}, paths", survivors, decision["paths_after"])
        if action == "single_token" and decision["acted"] and not decision["note"]:
            self.expect(f"{name}, routes", survivors * (expansion - 1), extra)
        self.expect(f"{name}, most", True, extra <= survivors * max(0, expansion - 1))

    def check_families(self, decision, roots):
        start = decision["position"]
        horizon = self.options["horizon"] or self.options["interval"]
        for root in roots:
            members = [root] + [path for path in self.paths.values()
                                if path.parent == root.id and path.start == start]
            if len(members) == 1:
                continue

            def surety(path):
                value = path.mean_confidence(start, start + horizon)
                return 0.0 if math.isnan(value) else value

            def lost(path):  # pruned, or worse, within the expansion
                return len(path) <= start + horizon and path.end["status"] not in (*ENDED, "merged")
            counting = [path for path in members if not lost(path)]
            if not counting:
                continue
            best = max(counting, key=surety)
            if sum(abs(surety(path) - surety(best)) < CLOSE for path in counting) > 1:
                continue
            for path in counting:
                if path is not best and path.last["status"] == "merged":
                    self.expect(f"merge: path {path.id}", best.id, path.last["kept"])
                elif path is not best:
                    self.expect(f"merge: path {path.id} of decision {decision['step']}",
                                self.options["keep-finished"], True)

    def check_pruning(self):
        threshold = self.warmup and self.warmup["threshold"]
        if threshold is None:
            return
        for path in self.paths.values():
            if path.warmup:
                continue
            means = path.window_means(self.options["window"])
            for at in range(path.start, len(path)):
                if means[at] is None or abs(means[at] - threshold) < CLOSE:
                    continue
                last = at + 1 == len(path)
                if means[at] < threshold:
                    self.expect(f"pruning: path {path.id} at {at}", True,
                                last and path.end["status"] in ("pruned", "finished"))
                elif last:
                    self.expect(f"pruning: path {path.id}", False,
                                "below the threshold" in (path.end["reason"] or ""))

    def check_signals(self):
        if self.signal in ("alternatives", "topk"):
            return  # checked where the trace has the top lists: at decisions
        for record in self.records:
            if record["record"] == "token" and record["confidence"] is not None:
                self.expect(f"signal: path {record['path']} at {record['position']}",
                            signal_of(self.signal, record), record["confidence"])

    def check_windows(self):
        for path in self.paths.values():
            means = path.running_means(self.options["window"])
            for at in range(path.start, len(path)):
                self.expect(f"window: path {path.id} at {at}", means[at],
                            path.tokens[at]["window_mean"])

    def check_routes(self):
        wanted = {}
        for record in self.records:
            if record["record"] == "refine":
                wanted[record["path"]] = record["routes"]
            elif record["record"] == "token":
                self.expect(f"routes: path {record['path']} at {record['position']}",
                            wanted.get(record["path"], 1), record["routes"])

    def check_ledger(self):
        ledger = self.records[-1]["ledger"]
        routes = [record["routes"] for record in self.records
                  if record["record"] == "token" and self.paths[record["path"]].reasons]
        reasoning = [path for path in self.paths.values() if path.reasons]
        self.expect("ledger: generated", len(routes), ledger["generated"])
        self.expect("ledger: lanes_opened", len(reasoning), ledger["lanes_opened"])
        self.expect("ledger: extra_routes", sum(k - 1 for k in routes), ledger["extra_routes"])
        self.expect("ledger: refined", sum(k > 1 for k in routes), ledger["refined"])
        charged = sum(ledger[key] for key in ("generated", "extra_routes", "probe", "judge",
                                              "value"))
        self.expect("ledger: effective", charged, ledger["effective"])
        open_paths, most = set(), 0
        for record in self.records:
            if record["record"] == "path":
                open_paths.add(record["path"])
                most = max(most, len(open_paths))
            elif record["record"] == "finish":
                open_paths.discard(record["path"])
        self.expect("ledger: lanes_peak", most, ledger["lanes_peak"])

    # The stop.

    def check_stop(self, stop, running, after):
        """Counts and Beta posterior again; an urn's draws are believed, their bound is not."""
        rule, wanted = self.options["vote"], self.options["stop"]
        voters = [path for path in self.paths.values() if path.last and self.votes(path)]
        counts = Counter(path.last["answer"] for path in voters).most_common()
        first, second = counts[0][1], counts[1][1] if len(counts) > 1 else 0
        reasoning = [path for path in running if path.reasons]
        coming = len(reasoning) + stop["unopened"]
        self.expect("stop: asked for", True, wanted != "never")
        self.expect("stop: voters", len(voters), stop["voters"])
        self.expect("stop: cancelled", len(reasoning), stop["cancelled"])
        self.expect("stop: paths", sum(path.reasons for path in self.paths.values()) +
                    stop["unopened"], stop["paths"])
        self.expect("stop: answer", self.records[-1]["answer"], stop["answer"])
        ended = {record["path"]: record for record in after if record["record"] == "finish"}
        self.expect("stop: paths that end", sorted(path.id for path in running), sorted(ended))
        for record in ended.values():
            self.expect("stop: cancelled", ("cancelled", "decided", None),
                        (record["status"], record["reason"], record["answer"]))
        if stop["basis"] == "sure":
            self.expect("stop: sure", 1, stop["posterior"])
            if rule == "majority":
                self.expect("stop: lead", True, first - second > coming)
        elif stop["basis"] == "beta":
            # P(p > 1/2) under Beta(first + 1, second + 1), by the binomial's other tail.
            n = first + second + 1
            tail = sum(math.comb(n, j) for j in range(second + 1))
            self.expect("stop: beta", float(1 - Fraction(tail, 2**n)), stop["posterior"], 1e-9)
        if rule == "majority" and stop["basis"] != "sure":
            self.check_probes(reasoning, counts, stop["answer"])
        if wanted == "sure":
            self.expect("stop: basis", "sure", stop["basis"])
        else:
            self.expect("stop: reached", True, stop["posterior"] >= float(wanted))

    def check_probes(self, running, counts, winner):
        """The winner would win too if the running paths ended with what they last replied."""
        replies = {path.parent: path.last["answer"] for path in self.paths.values()
                   if path.last and path.kind == "probe" and path.last["status"] in ENDED}
        answers = Counter(dict(counts))
        answers.update(replies[path.id] for path in running if replies.get(path.id))
        self.expect("stop: probes agree", max(answers.values()), answers[winner])

    # The vote.

    def votes(self, path):
        method, last = self.head["method"], path.last
        if not path.reasons or last["status"] == "merged" or not last["answer"]:
            return False
        if last["tentative"] and not self.options["vote-tentative"]:
            return False
        if method == "parallel-probe" and last["status"] == "pruned":
            return False
        if method in ("deepconf", "deepconf-high"):
            if last["status"] in ("pruned", "cancelled"):
                return False
            return path.lowest_window(self.options["window"]) >= self.warmup["threshold"] - CLOSE
        if method.startswith(TREES):
            return not path.warmup and last["status"] in ENDED
        if method == "threadweaver":
            return path.parent is None and last["status"] != "pruned"
        if not self.is_hyper():
            return True
        if not self.options["vote-clones"] and self.is_clone(path):
            return False
        return self.options["vote-warmup"] or not path.warmup

    def is_clone(self, path):
        """A fork of fewer than T tokens beside the path that it came from, if both have an answer."""
        parent = self.paths.get(path.parent)
        return (parent is not None and len(path) - path.start < self.options["interval"] and
                parent.last["status"] != "merged" and bool(parent.last["answer"]) and
                (not parent.last["tentative"] or self.options["vote-tentative"]))

    def agreeing_window(self):
        """ESC: the numbers of the first window of equal answers; all paths where there is none."""
        size = self.options["esc-window"]
        for first in range(0, len(self.paths) - size + 1, size):
            window = [self.paths[number] for number in range(first, first + size)]
            answers = {path.last["answer"] for path in window if path.last and path.last["answer"]}
            if len(answers) == 1 and all(path.last["answer"] for path in window):
                return range(first, first + size)
        return range(len(self.paths))

    def is_hyper(self):
        return any(record["record"] == "decision" for record in self.records)

    def steps(self, path):
        """(first, end) of each step: it ends with the delimiter, or at its most tokens."""
        delimiter = self.options["step-delimiter"].encode().decode("unicode_escape")
        all_of, first, text = [], 0, ""
        for at, token in enumerate(path.tokens):
            text += token["text"]
            written = len(text) - len(text.lstrip(" \t\r\n"))
            if (delimiter in text[written + 1:] or at + 1 - first >= self.options["step-tokens"] or
                    at + 1 == len(path)):
                all_of.append((first, at + 1))
                first, text = at + 1, ""
        return all_of

    def step_value(self, path):
        """Confidence of the last step, from the 5th to the 95th percentile of the warm-up's steps."""
        def surety(of, step):
            return of.mean_confidence(*step)
        sample = [surety(of, step) for of in self.paths.values() if of.warmup
                  for step in self.steps(of)]
        low, high = (quantile([value for value in sample if not math.isnan(value)], q)
                     for q in (0.05, 0.95))
        value = surety(path, self.steps(path)[-1])
        if math.isnan(value):
            return 0.0
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else float(value >= high)

    def weight(self, path):
        """The method's own score of a path; None: it has none, or the trace does not tell."""
        if self.head["method"].startswith(TREES):
            return self.step_value(path) if self.options["reward"] == "conf" else None
        if not self.head["method"].startswith(SCORED):
            return None
        scorer, window = self.options["scorer"], self.options["window"]
        values = known(path.column("confidence"))
        full = known(path.window_means(window))
        if scorer == "self-certainty":
            logs = path.column("mean_logprob")
            return None if None in logs else -mean(logs) - math.log(self.head["vocabulary"])
        if scorer == "mean":
            return path.mean_confidence()
        if scorer == "tail":
            return self.average(values[-window:])
        if scorer == "bottom":
            lowest = sorted(full)[:max(1, len(full) // 10)]
            return mean(lowest) if full else path.mean_confidence()
        if scorer == "lowest":
            return path.lowest_window(window)
        return None

    def check_weights(self):
        """The recorded weight of each voter, for the rules that read it."""
        recorded = {voter["path"]: voter["weight"] for voter in self.records[-1]["voters"]}
        for number, weight in recorded.items():
            computed = self.weight(self.paths[number])
            if computed is not None:
                self.expect(f"weight: path {number}", computed, weight)
            elif weight is not None:  # by P(True), a judge or a reward model
                self.expect(f"weight: path {number}, range", True, 0 <= weight <= 1)
        return recorded

    def best_share(self, voters):
        """Offline DeepConf: those whose weight reaches the percentile."""
        if not self.head["method"].startswith("deepconf-offline") or not voters:
            return voters
        least = quantile([self.weight(path) for path in voters],
                         1 - self.options["keep-percent"] / 100)
        return [path for path in voters if self.weight(path) >= least - CLOSE]

    def likely_ones(self, voters):
        """RPC: of equal texts the first; unsure paths may be left out below the mean only."""
        texts, mean_weight = set(), mean([self.weight(path) for path in voters])
        recorded = {voter["path"] for voter in self.records[-1]["voters"]}
        chosen = []
        for path in voters:
            text = tuple(path.column("token"))
            new = text not in texts
            texts.add(text)
            free = len(voters) >= 16 and self.weight(path) < mean_weight + CLOSE
            if new and (path.id in recorded or not free):
                chosen.append(path)
        return chosen

    def check_voters(self):
        """Who votes; ToT and MCTS choose among their leaves by what the trace does not say."""
        method, result = self.head["method"], self.records[-1]
        voters = self.best_share([path for path in self.paths.values()
                                  if path.last and self.votes(path)])
        if method == "rpc":
            voters = self.likely_ones(voters)
        if method == "esc":
            window = self.agreeing_window()
            self.expect("esc: no path after a window that agrees", True,
                        window[-1] + 1 == len(self.paths))
            voters = [path for path in voters if path.id in window]
        recorded = [voter["path"] for voter in result["voters"]]
        if method.startswith(("tot", "mcts")):
            self.expect("voters", True, set(recorded) <= {path.id for path in voters})
            voters = [path for path in voters if path.id in recorded]
        self.expect("voters", [path.id for path in voters], recorded)
        return voters

    def borda(self, weights):
        """(N - rank + 1)^p by path; a path that ended without an answer keeps its rank."""
        ranked = {path.id: self.weight(path) for path in self.paths.values()
                  if path.reasons and (path.id in weights or path.last["status"] in ENDED)}
        order = sorted((number for number in ranked if ranked[number] is not None),
                       key=lambda number: -ranked[number])
        power = self.options["borda-power"]
        return {number: (len(order) - rank) ** power for rank, number in enumerate(order)}

    def terms(self, rule, voters, weights):
        """What each voter adds to its answer's score."""
        lengths = sum(len(path) for path in voters)
        surety = {path.id: path.mean_confidence() for path in voters}
        surest = max(surety.values())

        def linear(path):
            return (self.options["lambda-length"] * len(path) / lengths +
                    self.options["lambda-confidence"] * surety[path.id] / surest)
        ranks = self.borda(weights) if rule == "borda" else {}
        return {
            "length_confidence": linear, "majority": lambda path: 1.0,
            "confidence": lambda path: surety[path.id],
            "length": lambda path: len(path) / lengths,
            "importance_sampling": lambda path: math.exp(linear(path)),
            "cisc": lambda path: math.exp((surety[path.id] - surest) /
                                          self.options["vote-temperature"]),
            "deepconf": lambda path: path.lowest_window(self.options["window"]),
            "weighted": lambda path: weights[path.id], "best": lambda path: weights[path.id],
            "borda": lambda path: ranks[path.id],
        }[rule]

    def check_vote(self):
        result = self.records[-1]
        if result["partial"]:
            return
        voters, weights = self.check_voters(), self.check_weights()
        rule = self.options["vote"]
        if rule in WEIGHED:
            voters = [path for path in voters if weights[path.id] is not None]
            if not voters and weights:  # no P(True) came: the majority decides
                rule, voters = "majority", [self.paths[number] for number in weights]
        if self.head["method"].startswith("tot") and self.options["search"] == "dfs":
            rule = "best"
        self.expect("vote: rule", rule, result["vote_rule"])
        if not voters:
            self.expect("vote: none", (None, []), (result["answer"], result["vote"]["scores"]))
            return
        groups = {}
        for path in voters:
            groups.setdefault(path.last["answer"], []).append(path)
        term = self.terms(rule, voters, weights)
        scores = {answer: (max if rule == "best" else sum)(term(path) for path in of)
                  for answer, of in groups.items()}
        candidates = groups
        if rule == "length_confidence" and len(groups) > self.options["vote-top"]:
            counts = sorted((len(of) for of in groups.values()), reverse=True)
            least = counts[self.options["vote-top"] - 1]
            candidates = {a: of for a, of in groups.items() if len(of) >= least}
        self.check_tally(scores, groups, candidates)
        order = sorted(candidates, key=lambda a: (
            -scores[a], -len(groups[a]),
            -sum(p.mean_confidence() for p in groups[a]), a))
        if len(order) > 1 and abs(scores[order[0]] - scores[order[1]]) < CLOSE:
            return
        self.expect(f"vote: {rule}", order[0], result["answer"])

    def check_tally(self, scores, groups, candidates):
        """Score, share, paths and candidacy of every answer."""
        recorded = {tally["answer"]: tally for tally in self.records[-1]["vote"]["scores"]}
        self.expect("tally: answers", sorted(scores), sorted(recorded))
        total = sum(scores.values())
        for answer in scores.keys() & recorded.keys():
            tally = recorded[answer]
            self.expect(f"tally: score of {answer}", float(scores[answer]), tally["score"])
            self.expect(f"tally: share of {answer}", scores[answer] / total if total > 0 else 0.0,
                        tally["share"])
            self.expect(f"tally: paths of {answer}", len(groups[answer]), tally["paths"])
            self.expect(f"tally: candidacy of {answer}", answer in candidates, tally["candidate"])


def main():
    wrong = 0
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        run = Run(records)
        trouble = run.audit()
        wrong += bool(trouble)
        print(f"{name}: {run.head['method']}, {sum(run.checked.values())} values,",
              "all as computed" if not trouble else f"{len(trouble)} differ")
        for line in trouble[:20]:
            print(" ", line)
        decisions = [r for r in records if r["record"] == "decision"]
        acted = Counter(r["action"] for r in decisions if r["acted"])
        if decisions:
            print(f"  {len(decisions)} decisions, acted: {dict(acted)}")
    sys.exit(1 if wrong or len(sys.argv) < 2 else 0)


if __name__ == "__main__":
    main()
