#!/usr/bin/env python3
"""Checks the remote engine against a real vLLM on the CPU with the bundled model's checkpoint.

Starts and stops the server itself; PYTHON is of an environment with vLLM. Standard library only.

    tests/remote/vllm_check.py HYPER PYTHON CHECKPOINT_FOLDER SUITE_JSONL [--questions N]
"""

import argparse
import json
import sys

import checks
import servers

WANTED = {"server": "vLLM", "raw log-probabilities": "yes", "seeds": "yes",
          "top log-probabilities": "20 or more", "prompts as token ids": "yes",
          "generated token ids": "yes", "chat template": "/tokenize of messages", "n > 1": "yes",
          "echo": "yes", "context": "1024"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("python")
    parser.add_argument("checkpoint")
    parser.add_argument("suite")
    parser.add_argument("--questions", type=int, default=2)
    arguments = parser.parse_args()
    with open(arguments.suite, encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in lines][:arguments.questions]
    with servers.vllm_server(arguments.python, arguments.checkpoint) as root:
        print(servers.version("vllm", root))
        fine = checks.check_probe(arguments.hyper, root + "/v1", WANTED)
        fine = checks.check_methods(arguments.hyper, root + "/v1", questions) and fine
        fine = checks.check_prefill(arguments.hyper, root, questions[0]) and fine
    print("passed" if fine else "FAILED")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
