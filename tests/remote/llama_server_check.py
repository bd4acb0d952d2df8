#!/usr/bin/env python3
"""Checks the remote engine against real llama-servers with the bundled model.

Starts and stops the servers itself. On SERVER every method must run to its end, nothing failed.
Greedy texts through PINNED, a llama-server of the very sources that the engine in process is built
from, and in process must be equal in at least 95 % of the questions, each first divergence close
to a tie; where they are equal, HyPER as controller only must take the same decisions both ways.
Standard library only.

    tests/remote/llama_server_check.py HYPER SERVER PINNED MODEL SUITE_JSONL [--questions N]
"""

import argparse
import json
import sys

import checks
import servers

LEAST_EQUAL = 0.95
CLOSE_NATS = 0.05
SLOTS = 16
CONTEXT = 1024
WANTED = {"server": "llama-server", "raw log-probabilities": "yes", "seeds": "yes",
          "top log-probabilities": "20 or more", "prompts as token ids": "yes",
          "generated token ids": "yes", "chat template": "/apply-template",
          "sequences at once": str(SLOTS), "context": str(CONTEXT), "prefix cache": "yes"}
CONTROLLER = ["--method", "hyper", "--actions", "none,multi_token,branch", "--temperature", "0",
              "--width", "8"]
# Statistics of a decision that must agree, beside what was decided; 16-bit weights on two kinds of
# batches differ by about this.
CLOSE_STATISTIC = 0.02


def margin_at(root, prompt, text, other):
    """Top-2 margin of the server's distribution where two texts part, in nats."""
    answer = servers.post(root + "/v1/completions",
                          {"prompt": prompt + checks.common_prefix(text, other), "max_tokens": 1,
                           "logprobs": 2, "temperature": 0})
    top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return abs(top[0]["logprob"] - top[1]["logprob"])


def different_decisions(there, here):
    """What two runs decided otherwise, in words."""
    if len(there) != len(here):
        return [f"{len(there)} decisions and {len(here)}"]
    words = []
    for one, other in zip(there, here):
        for name in ("position", "action", "expansion", "paths_before", "paths_after"):
            if one[name] != other[name]:
                words.append(f"step {one['step']}: {name} {one[name]} and {other[name]}")
        for name in ("confidence", "diversity"):
            if abs(one["raw"][name] - other["raw"][name]) > CLOSE_STATISTIC:
                words.append(f"step {one['step']}: {name} {one['raw'][name]} and"
                             f" {other['raw'][name]}")
    return words


def check_same_answers(arguments, questions):
    """The same greedy texts from the pinned server and in process, and the same decisions."""
    greedy = ["--method", "sc", "--width", "1", "--temperature", "0"]
    local = ["--model", arguments.model, "--threads", "1"]
    equal = 0
    decided = 0
    wrong = []
    with servers.llama_server(arguments.pinned, arguments.model, 1, CONTEXT) as root:
        print("same answers:", servers.version("llama-server", root))
        remote = ["--engine", root + "/v1"]
        for number, question in enumerate(questions):
            there = servers.hyper_run(arguments.hyper, question, [*greedy, *remote])
            here = servers.hyper_run(arguments.hyper, question, [*greedy, *local])
            texts = [run["paths"][0]["text"] for run in (there, here)]
            if there["prompt"] != here["prompt"]:
                wrong.append(f"prompts differ: {there['prompt']!r} {here['prompt']!r}")
            if texts[0] != texts[1]:
                margin = margin_at(root, there["prompt"], *texts)
                print(f"  question {number}: texts part at a top-2 margin of {margin:.4f} nat")
                if margin >= CLOSE_NATS:
                    wrong.append(f"question {number}: texts part at {margin:.4f} nat")
                continue
            equal += 1
            if number < arguments.decided:
                runs = [servers.hyper_run(arguments.hyper, question, [*CONTROLLER, *where])
                        for where in (remote, local)]
                decided += len(runs[0]["decisions"])
                wrong += [f"question {number}, {words}" for words in
                          different_decisions(*(run["decisions"] for run in runs))]
    print(f"greedy: {equal} of {len(questions)} texts are equal; {decided} decisions compared")
    for words in wrong:
        print("  WRONG:", words)
    return equal >= LEAST_EQUAL * len(questions) and decided > 0 and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("server")
    parser.add_argument("pinned")
    parser.add_argument("model")
    parser.add_argument("suite")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--decided", type=int, default=10, help="questions on which HyPER runs too")
    arguments = parser.parse_args()
    with open(arguments.suite, encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in lines][:arguments.questions]
    with servers.llama_server(arguments.server, arguments.model, SLOTS, CONTEXT) as root:
        print(servers.version("llama-server", root))
        fine = checks.check_probe(arguments.hyper, root + "/v1", WANTED)
        fine = checks.check_methods(arguments.hyper, root + "/v1", questions[:3]) and fine
        fine = checks.check_prefill(arguments.hyper, root, questions[0]) and fine
    fine = check_same_answers(arguments, questions) and fine
    print("passed" if fine else "FAILED")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
