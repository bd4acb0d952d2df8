#!/usr/bin/env python3
"""Values of src/core, computed independently with NumPy and SciPy, straight from the paper's equations.

Writes core_goldens.json beside itself; `make goldens` runs it and the tests read the committed
file. Each section holds cases with inputs and the expected result, one section per equation. NaN and
infinities are written as strings. Log-probabilities and logits are binary32, as in the library.
"""
import itertools
import json
import math
import pathlib

import numpy as np
import scipy.special
import scipy.stats

FLOOR = -60.0  # nats; log-probabilities enter a confidence no lower than this
rng = np.random.default_rng(20260128)


def f32(values):
    return [float(v) for v in np.asarray(values, dtype=np.float32)]


def log_softmax(logits):
    z = np.asarray(logits, dtype=np.float64)
    return z - (z.max() + np.log(np.sum(np.exp(z - z.max()))))


def ranked(values):
    """Indices by falling value; equal values by ascending index."""
    return sorted(range(len(values)), key=lambda i: (-values[i], i))


def top_list(logits, k):
    log_p = log_softmax(logits)
    return [[i, float(np.float32(log_p[i]))] for i in ranked(logits)[:k]]


def random_row(n_vocab, scale=3.0):
    return f32(rng.normal(0, scale, n_vocab))


# --- Random numbers: the recipe in src/core/random.h ---------------------------------------------

def philox(key, counter):
    """Philox4x32-10: ten rounds of two 32 x 32 -> 64 bit products (Salmon et al. 2011)."""
    c, k = list(counter), [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


PURPOSE = {"sample": 0, "route": 1, "tie": 2, "step": 3, "child": 4}


def key_of(words):
    return words[1] << 32 | words[0]


def path_key(run_seed, question, index):
    low = 0xFFFFFFFF
    return key_of(philox(run_seed, [question & low, question >> 32, index & low, index >> 32]))


def child_path_key(parent, step, child):
    return key_of(philox(parent, [step, PURPOSE["child"], child, 0]))


def uniform(key, position, purpose, a=0, b=0, c=0):
    words = philox(key, [position, PURPOSE[purpose] | a << 8, b, c])
    return ((key_of(words) >> 12) + 0.5) / 2**52


def gumbel_uniforms(key, position, layer, route, experts):
    blocks = [philox(key, [position, PURPOSE["route"] | layer << 8, route, block])
              for block in range((experts + 3) // 4)]
    return [(w + 0.5) / 2**32 for w in itertools.chain(*blocks)][:experts]


def gumbel_row(key, position, layer, route, experts):
    u = np.array(gumbel_uniforms(key, position, layer, route, experts))
    return f32(-np.log(-np.log(u)))


def random_cases():
    key = path_key(7, 3, 2)
    draws = [(0, "sample", 0, 0, 0), (1, "sample", 0, 0, 0), (0, "tie", 0, 0, 0),
             (0, "step", 1, 0, 0), (0, "step", 0, 1, 0), (0, "step", 0, 0, 1),
             (4294967295, "route", 16777215, 4294967295, 4294967295)]
    return {
        "path_keys": [[s, q, i, str(path_key(s, q, i))] for s, q, i in
                      [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2**63 + 5, 2**40, 2**33)]],
        "child_keys": [[str(key), t, c, str(child_path_key(key, t, c))]
                       for t, c in [(0, 0), (0, 1), (1, 0), (1000, 63)]],
        "key": str(key),
        "uniforms": [[list(d), uniform(key, *d)] for d in draws],
        "gumbel": [[position, layer, route, gumbel_row(key, position, layer, route, 10)]
                   for position, layer, route in [(0, 0, 1), (9, 0, 1), (0, 3, 1), (0, 0, 2)]],
    }


# --- Rows of logits ------------------------------------------------------------------------------

def row_case(logits, k):
    z = np.asarray(logits, dtype=np.float64)
    masked = ~(z > -1e30)
    peak = z.max()
    log_sum = peak + np.log(np.sum(np.exp(z - peak)))
    log_p = np.where(masked, FLOOR, z - log_sum)
    order = ranked(logits)[:k]
    return {"logits": logits, "k": k, "log_sum_exp": log_sum, "mean_logprob": log_p.mean(),
            "top": [[i, z[i] - log_sum] for i in order]}


def row_cases():
    ties = [1.0, 3.0, 3.0, -2.0, 3.0, 1.0]
    masked = [2.0, -math.inf, 0.5, -3.4028234663852886e38, 1.0]
    return [row_case([2.0, 1.0, 0.0], 3), row_case(ties, 4), row_case(masked, 5),
            row_case([0.25], 1), row_case(f32([-700.0, 800.0, 799.0]), 2),
            row_case(random_row(37), 8), row_case(random_row(1100), 21)]


# --- App. A: token confidence and top-k entropy --------------------------------------------------

def token_confidence(top, chosen, alternatives, k):
    """c = -(1/k) sum_{v in C_k} log P(v), C_k the top-k, without the chosen one if alternatives."""
    kept = [lp for token, lp in top if not (alternatives and token == chosen)][:k]
    return -np.mean(np.clip(kept, FLOOR, 0)) if kept else math.nan


def renormalised(top, k):
    """P-tilde(v) = P(v) / sum over the top-k of P."""
    p = {token: math.exp(lp) for token, lp in top[:k]}
    total = sum(p.values())
    return {token: value / total for token, value in p.items()} if total > 0 else {}


def topk_entropy(top, k):
    """h = -sum P-tilde log P-tilde."""
    p = renormalised(top, k)
    return -sum(x * math.log(x) for x in p.values() if x > 0) if p else math.nan


def confidence_cases():
    wide = top_list(random_row(60), 21)
    sure = [[4, 0.0], [9, -80.0], [2, -math.inf], [3, -math.inf]]
    cases = []
    for top, chosen, k in [(wide, wide[0][0], 8), (wide, wide[3][0], 8), (wide, wide[8][0], 8),
                           (wide, 1000, 8), (wide, wide[0][0], 20), (wide, wide[0][0], 1),
                           (sure, 4, 3), (sure, 9, 2), (wide[:3], wide[1][0], 8),
                           ([[5, -0.5]], 5, 8), ([], 5, 8)]:
        cases.append({"top": top, "chosen": chosen, "k": k,
                      "alternatives": token_confidence(top, chosen, True, k),
                      "topk": token_confidence(top, chosen, False, k),
                      "entropy": topk_entropy(top, k),
                      "renormalised": sorted(renormalised(top, k).items())})
    return cases


# --- Signals that may stand for the confidence ---------------------------------------------------

def signal_case(row, rank, k):
    """One token of a whole row: the signals straight from its probabilities."""
    p = np.exp(log_softmax(row))
    token = ranked(row)[rank]
    tilde = np.sort(p)[::-1][:k]
    tilde = tilde / tilde.sum()
    perplexity = np.prod(tilde ** -tilde)  # e^H of the k most probable tokens
    return {"top": top_list(row, 21), "chosen": token, "logprob": math.log(p[token]), "k": k,
            "entropy": float(scipy.special.entr(tilde).sum()), "mean_logprob": np.log(p).mean(),
            "signals": {"alternatives": token_confidence(top_list(row, 21), token, True, k),
                        "topk": token_confidence(top_list(row, 21), token, False, k),
                        "logprob": p[token], "surprise": p[token] * perplexity,
                        "entropy": 1 / perplexity,
                        "self-certainty": -np.log(np.prod(p ** (1 / len(p))))}}


def signal_cases():
    # Drawn last, so that the numbers of the other sections stay.
    return [signal_case(random_row(40, scale), rank, k)
            for scale, rank, k in [(3, 0, 8), (3, 5, 8), (1, 0, 8), (1, 30, 20), (6, 0, 8),
                                   (6, 2, 3), (2, 12, 20)]]


# --- Windows and trace scores (DeepConf) ---------------------------------------------------------

def window_scores(c, window, mean):
    if len(c) < window:
        means = [mean(c)]
    else:
        means = [mean(c[i:i + window]) for i in range(len(c) - window + 1)]
    lowest = np.sort(means)[:max(1, int(0.1 * len(means)))]
    return {"lowest": min(means), "mean": mean(c), "tail": mean(c[-window:]),
            "bottom": lowest.mean()}


def window_case(c, window):
    c = np.asarray(c)
    return {"confidences": c.tolist(), "window": window, **window_scores(c, window, np.mean),
            "geometric": window_scores(c, window, scipy.stats.gmean)}


def window_cases():
    series = rng.gamma(9.0, 1.3, 64)
    return [window_case(series, 8), window_case(series, 1), window_case(series, 64),
            window_case(series[:20], 21), window_case([7.5], 4), window_case([3.0] * 12, 5),
            window_case(rng.gamma(9.0, 1.3, 400), 16)]


# --- App. A: statistics of the pool --------------------------------------------------------------

def jsd(p, q):
    """JSD = 1/2 KL(P||M) + 1/2 KL(Q||M), M = (P + Q)/2, over the union of the supports."""
    support = sorted(set(p) | set(q))
    p = np.array([p.get(v, 0.0) for v in support])
    q = np.array([q.get(v, 0.0) for v in support])
    m = (p + q) / 2
    kl = lambda x: np.sum(x[x > 0] * np.log(x[x > 0] / m[x > 0]))
    return 0.5 * kl(p) + 0.5 * kl(q)


def levenshtein(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0], d[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return int(d[-1, -1])


def pool_statistics(paths, eta, k):
    s = len(paths)
    c = np.array([p["confidence"] for p in paths])
    h = np.array([p["entropy"] for p in paths])
    chosen = [p["chosen"] for p in paths]
    pairs = list(itertools.combinations(paths, 2))
    d_dist = np.mean([jsd(renormalised(p["top"], k), renormalised(q["top"], k))
                      for p, q in pairs]) if pairs else 0.0
    d_seq = np.mean([levenshtein(p["suffix"], q["suffix"]) /
                     max(len(p["suffix"]), len(q["suffix"]), 1) for p, q in pairs]) if pairs else 0.0
    return {"mean_confidence": c.mean(), "mean_entropy": h.mean(),
            "consensus": max(chosen.count(v) for v in chosen) / s,
            "distribution_diversity": d_dist, "sequence_diversity": d_seq,
            "diversity": eta * d_dist + (1 - eta) * d_seq,
            "confidence_variance": np.mean((c - c.mean()) ** 2)}


def random_path(length, alphabet):
    top = top_list(random_row(40), 9)
    chosen = top[int(rng.integers(0, 3))][0]
    return {"confidence": token_confidence(top, chosen, True, 8), "entropy": topk_entropy(top, 8),
            "chosen": chosen, "top": top, "suffix": rng.integers(0, alphabet, length).tolist()}


def pool_cases():
    pools = {"five": [random_path(n, 4) for n in (16, 16, 12, 16, 9)],
             "one": [random_path(16, 4)],
             "equal": [random_path(16, 4)] * 3,
             "long": [random_path(n, 3) for n in (130, 64, 65)],
             "empty_suffix": [dict(random_path(0, 2)), random_path(5, 2), random_path(0, 2)]}
    pools["five"][3]["chosen"] = pools["five"][0]["chosen"]
    cases = []
    for name, paths in pools.items():
        for eta, k in [(0.4, 8), (0.9, 3)]:
            cases.append({"name": name, "paths": paths, "eta": eta, "k": k,
                          "expected": pool_statistics(paths, eta, k)})
    return cases


def levenshtein_cases():
    pairs = [("kitten", "sitting"), ("", "abc"), ("abc", ""), ("", ""), ("same", "same"),
             ("flaw", "lawn"), ("ab" * 40, "ba" * 40), ("x" * 64, "x" * 65), ("x" * 64, "y" * 64)]
    pairs = [([ord(c) for c in a], [ord(c) for c in b]) for a, b in pairs]
    for la, lb in [(63, 64), (64, 64), (65, 64), (128, 129), (200, 150), (1, 130)]:
        pairs.append((rng.integers(0, 3, la).tolist(), rng.integers(0, 3, lb).tolist()))
    return [{"a": a, "b": b, "distance": levenshtein(a, b)} for a, b in pairs]


def jsd_cases():
    dists = [{1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75}, {4: 1.0}, {1: 0.5, 2: 0.5, 9: 0.0},
             {1: 0.125, 2: 0.125, 5: 0.75}]
    return [{"p": sorted(p.items()), "q": sorted(q.items()), "jsd": jsd(p, q)}
            for p in dists for q in dists]


# --- Sec. 3.1: normalisation and the four scores -------------------------------------------------

def controller_cases():
    cases = []
    for _ in range(12):
        x = {n: float(rng.uniform(0, 2)) for n in ("c", "h", "d", "v")}
        x["beta"] = float(rng.uniform(0.1, 1))
        top = {n: float(rng.uniform(0.5, 2)) for n in ("c", "h", "d", "v")}
        if len(cases) == 0:
            top["v"] = 0.0  # X_max = 0 normalises to 0
        n = {key: min(x[key] / top[key], 1) if top[key] > 0 else 0.0 for key in top}
        scores = [(n["c"] + (1 - n["h"]) + n["d"]) / 3,             # None
                  ((1 - n["c"]) + n["h"] + (1 - x["beta"])) / 3,    # SingleToken
                  ((1 - n["d"]) + (1 - n["c"]) + n["v"]) / 3,       # MultiToken
                  ((1 - n["d"]) + (1 - x["beta"])) / 2]             # Branch
        cases.append({"raw": x, "max": top, "normalised": n, "scores": scores})
    return cases


# --- Thresholds ----------------------------------------------------------------------------------

def threshold_cases():
    sixteen = rng.gamma(9.0, 1.3, 16)
    cases = []
    for values in (sixteen, sixteen[:3], sixteen[:1], np.array([2.0, 2.0, 5.0, 5.0])):
        for n in (1, 5, 10):
            kept = np.sort(values)[::-1][:n]
            cases.append({"rule": f"top:{n}", "values": values.tolist(), "threshold": kept.min()})
        for q in (0, 10, 37.5, 90, 100):
            cases.append({"rule": f"percentile:{q}", "values": values.tolist(),
                          "threshold": np.percentile(values, q)})
    return cases


# --- Sec. 3.3 and App. F: votes ------------------------------------------------------------------

def votes(ballots, lambda_len, lambda_conf, temperature):
    group = np.array([b[0] for b in ballots])
    length = np.array([b[1] for b in ballots], dtype=float)
    conf = np.array([b[2] for b in ballots])
    lowest = np.array([b[3] for b in ballots])
    linear = lambda_len * length / length.sum() + lambda_conf * conf / conf.max()
    terms = {"length_confidence": linear, "majority": np.ones(len(ballots)), "confidence": conf,
             "length": length / length.sum(), "deepconf": lowest,
             "importance_sampling": np.exp(linear),
             "cisc": np.exp(conf / temperature) / np.exp(conf.max() / temperature)}
    return {rule: {int(g): float(term[group == g].sum()) for g in np.unique(group)}
            for rule, term in terms.items()}


def vote_cases():
    cases = []
    for paths, groups in [(12, 3), (30, 6), (1, 1)]:
        ballots = [[int(rng.integers(0, groups)), int(rng.integers(20, 400)),
                    float(rng.uniform(4, 18)), float(rng.uniform(2, 9))] for _ in range(paths)]
        for weights in [(0.6, 0.4, 1.0), (1.5, 0.2, 2.5)]:
            scores = votes(ballots, *weights)
            counts = np.sort(list(scores["majority"].values()))[::-1]
            third = counts[min(3, len(counts)) - 1]
            entered = sorted(int(g) for g, n in scores["majority"].items() if n >= third)
            cases.append({"ballots": ballots, "lambda_length": weights[0],
                          "lambda_confidence": weights[1], "temperature": weights[2],
                          "scores": scores,
                          "candidates": entered})
    return cases


# --- Sampling ------------------------------------------------------------------------------------

def kept_tokens(logits, temperature, top_k, top_p, min_p):
    """Weights after temperature, top-k, top-p, min-p, by token."""
    z = np.asarray(logits, dtype=np.float64)
    order = [i for i in ranked(logits) if z[i] > -math.inf]
    weight = {i: math.exp((z[i] - z[order[0]]) / temperature) for i in order}
    if top_k > 0:
        order = order[:top_k]
    if top_p < 1:
        mass = np.cumsum([weight[i] for i in order])
        order = order[:int(np.argmax(mass >= top_p * mass[-1])) + 1]
    order = [i for i in order if weight[i] >= min_p * weight[ranked(logits)[0]]]
    return {i: weight[i] for i in sorted(order)}


def sampling_cases():
    row = random_row(24, 2.0)
    tied = [1.0, 2.0, 2.0, 2.0, 0.0, -math.inf]
    settings = [(1.0, 0, 1.0, 0.0), (0.6, 0, 1.0, 0.0), (1.0, 5, 1.0, 0.0), (1.0, 0, 0.7, 0.0),
                (1.0, 0, 1.0, 0.2), (0.6, 20, 0.95, 0.0), (1.4, 10, 0.9, 0.1), (0.6, 1, 1.0, 0.0),
                (1.0, 6, 0.5, 0.0)]
    cases = []
    for logits in (row, tied, random_row(300)):
        for temperature, top_k, top_p, min_p in settings + [(1.0, 2, 1.0, 0.0)]:
            kept = kept_tokens(logits, temperature, top_k, top_p, min_p)
            total = sum(kept.values())
            tokens, running = [], 0.0
            us = [0.001, 0.2, 0.4, 0.6, 0.8, 0.999]
            for u in us:
                running = 0.0
                for token, weight in kept.items():
                    running += weight
                    if running > u * total:
                        break
                tokens.append(token)
            cases.append({"logits": logits, "temperature": temperature, "top_k": top_k,
                          "top_p": top_p, "min_p": min_p, "u": us, "tokens": tokens,
                          "kept": list(kept)})
    return cases


# --- App. C, Algorithm 2: two-pass expert sampling -----------------------------------------------

def two_pass(rows, noise, m, tau, lam, penalty, weights, passes):
    """Rows written back to the router, experts chosen, and how many sums rewarded reuse."""
    rows, noise = np.asarray(rows), np.asarray(noise)
    routes = len(rows)
    s0 = rows + tau * noise * (np.arange(routes)[:, None] > 0)  # route 0 is clean
    s = np.zeros_like(s0)
    for k in range(routes):
        p = np.exp(log_softmax(s0[k])) if penalty == "softmax" else s0[k]
        for e in ranked(s0[k])[:m]:
            s[k, e] = p[e]
    before = np.cumsum(s, axis=0) - s                           # sum over j < k
    l2 = s0 - (lam * np.tanh(before) if passes == 2 else 0)
    chosen = [ranked(l2[k])[:m] for k in range(routes)]
    out = l2.copy()
    if weights == "clean":
        out = rows.copy()
    out[0] = rows[0]
    used = before[1:][before[1:] != 0] if passes == 2 else np.array([])
    return {"out": out.tolist(), "chosen": chosen, "sums": int(used.size),
            "rewards": int((used < 0).sum())}


def routing_cases():
    cases = []
    for experts, m, routes, shift in [(8, 2, 4, 0.5), (16, 4, 8, -1.0), (6, 6, 3, 0.0)]:
        rows = [f32(rng.normal(shift, 1.0, experts)) for _ in range(routes)]
        noise = [f32(rng.gumbel(0, 1, experts)) for _ in range(routes)]
        for tau, lam in [(0.5, 0.1), (1.0, 2.0)]:
            for penalty, weights, passes in [("score", "noisy", 2), ("softmax", "noisy", 2),
                                             ("score", "clean", 2), ("score", "noisy", 1)]:
                cases.append({"rows": rows, "noise": noise, "m": m, "tau": tau, "lambda": lam,
                              "penalty": penalty, "weights": weights, "two_pass": passes == 2,
                              **two_pass(rows, noise, m, tau, lam, penalty, weights, passes)})
    return cases


# --- Sec. 3.2, step 3: aggregation of the routes' logits -----------------------------------------

def aggregate(rows, rule, temperature, alternatives, k):
    log_p = np.array([log_softmax(row) for row in rows])
    c = np.array([token_confidence(top_list(row, k + 1), ranked(row)[0], alternatives, k)
                  for row in rows])
    w = np.exp(log_softmax(c / temperature)) if rule == "confidence" else np.full(len(rows),
                                                                                  1 / len(rows))
    mixed = w @ log_p if rule == "confidence" else np.log(w @ np.exp(log_p))
    return {"weights": w.tolist(), "out": log_softmax(mixed).tolist()}


def aggregate_cases():
    rows = [random_row(30) for _ in range(4)]
    cases = []
    for count in (1, 2, 4):
        for rule, temperature, alternatives, k in [
                ("confidence", 1.0, True, 8), ("confidence", 0.5, True, 8),
                ("confidence", 1.0, False, 8), ("confidence", 1.0, True, 3),
                ("mean-prob", 1.0, True, 8)]:
            cases.append({"rows": rows[:count], "rule": rule, "temperature": temperature,
                          "alternatives": alternatives, "k": k,
                          **aggregate(rows[:count], rule, temperature, alternatives, k)})
    return cases


# --- Stopping ------------------------------------------------------------------------------------

def leader_posterior_cases():
    """P(p > 1/2) for p ~ Beta(first + 1, second + 1): the regularised incomplete beta function."""
    counts = [(0, 0), (1, 0), (3, 0), (4, 0), (8, 0), (8, 2), (5, 4), (12, 12), (3, 9), (37, 22),
              (300, 250), (2048, 2048), (2100, 1900)]
    return [[first, second, scipy.special.betaincc(first + 1, second + 1, 0.5)]
            for first, second in counts]


def encode(value):
    """Makes a value JSON: NumPy scalars plain, non-finite numbers strings."""
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [encode(item) for item in value]
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return value if math.isfinite(value) else str(value)
    return int(value) if isinstance(value, np.integer) else value


def main():
    goldens = {"random": random_cases(), "rows": row_cases(), "confidence": confidence_cases(),
               "windows": window_cases(), "jsd": jsd_cases(), "levenshtein": levenshtein_cases(),
               "pools": pool_cases(), "controller": controller_cases(),
               "thresholds": threshold_cases(), "votes": vote_cases(),
               "sampling": sampling_cases(), "routing": routing_cases(),
               "aggregate": aggregate_cases(), "leader_posterior": leader_posterior_cases(),
               "signals": signal_cases()}
    path = pathlib.Path(__file__).with_name("core_goldens.json")
    sections = [f"{json.dumps(name)}: {json.dumps(encode(section), separators=(',', ':'))}"
                for name, section in goldens.items()]
    path.write_text("{\n" + ",\n".join(sections) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
