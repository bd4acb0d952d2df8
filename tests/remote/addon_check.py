#!/usr/bin/env python3
"""Checks HyPER through a real vLLM with the add-on of integrations/vllm, on the CPU.

Starts and stops the server itself; PYTHON is of an environment with vLLM and the add-on. On each
question HyPER runs as it likes, and with each action forced at one decision. Every exchange with
the server is recorded. TESTS (remote_replay_tests) then plays the recorded token streams to HyPER
in process, and each decision, path and count must be the same. Standard library only.

    tests/remote/addon_check.py HYPER TESTS PYTHON CHECKPOINT_FOLDER SUITE_JSONL [--questions N]
        [--keep FOLDER]
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import checks
import record_fixtures
import servers

ROWS = servers.ADDON_ROWS
WANTED = {"server": "vLLM",
          "token refinement": f"yes, K up to {ROWS + 1}, {ROWS} extra rows a forward"}
ACTIONS = ("single_token", "multi_token", "branch")
FREE = record_fixtures.REFINING[:-2]  # without a forced decision


def record(arguments, questions, folder):
    """Records all runs; how often each action was taken, and tokens that were refined."""
    taken = collections.Counter()
    with servers.vllm_server(arguments.python, arguments.checkpoint, addon=True) as root:
        print(servers.version("vllm", root), "with the add-on")
        fine = checks.check_probe(arguments.hyper, root + "/v1", WANTED)
        probe = record_fixtures.record_probe(arguments.hyper, root)
        record_fixtures.write(folder, "addon-probe", dict(probe))
        for number, question in enumerate(questions):
            for name, more in {"free": FREE, **{action: [
                    *record_fixtures.REFINING, "--force-action", action]
                    for action in ACTIONS}}.items():
                run = record_fixtures.record_run(arguments.hyper, root, question, more, probe)
                record_fixtures.write(folder, f"addon-{name}_{number}", run)
                decisions = run["run"]["decisions"]
                taken["decisions"] += len(decisions)
                taken["refined tokens"] += run["run"]["ledger"]["refined"]
                taken.update(entry["action"] for entry in decisions if entry["acted"])
        stats = servers.get(root + "/hyper/stats")
    fine = fine and stats["capped_rows"] == 0 and stats["refined_tokens"] >= taken["refined tokens"]
    print("the server counts", json.dumps(stats))
    return taken, fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("tests")
    parser.add_argument("python")
    parser.add_argument("checkpoint")
    parser.add_argument("suite")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--keep", help="folder where the recordings stay")
    arguments = parser.parse_args()
    with open(arguments.suite, encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in lines][:arguments.questions]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        taken, fine = record(arguments, questions, folder)
        replay = subprocess.run(
            [arguments.tests, "--gtest_filter=*SameDecisions*", "--gtest_brief=1"],
            env=dict(os.environ, HYPER_RECORDINGS=folder), check=False)
    print("same decisions:", ", ".join(f"{count} {name}" for name, count in taken.items()))
    fine = fine and replay.returncode == 0 and all(taken[action] > 0 for action in ACTIONS)
    print("passed" if fine else "FAILED")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
