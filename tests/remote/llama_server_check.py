#!/usr/bin/env python3
"""Checks the remote engine against a real llama-server with the bundled model.

Starts and stops the server itself. Greedy texts of 50 questions through the server and in process
must be equal in at least 95 % of cases, and each first divergence must be close to a tie; HyPER and
SC must run to their end; what is left out of a run must be nothing. Standard library only.

    tests/remote/llama_server_check.py HYPER LLAMA_SERVER MODEL SUITE_JSONL [--questions N]
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

LEAST_EQUAL = 0.95
CLOSE_NATS = 0.05


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def post(url, body):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@contextlib.contextmanager
def llama_server(program, model, slots, context):
    """Runs a server; gives its root URL."""
    port = free_port()
    environment = dict(os.environ)
    environment["LD_LIBRARY_PATH"] = os.path.dirname(program)
    process = subprocess.Popen(
        [program, "-m", model, "--host", "127.0.0.1", "--port", str(port), "-np", str(slots),
         "-c", str(context), "--threads", "1", "--jinja"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    root = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            if process.poll() is not None:
                sys.exit(f"llama-server ended with {process.returncode}")
            try:
                urllib.request.urlopen(root + "/health", timeout=1)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield root
    finally:
        process.terminate()
        process.wait()


def hyper_run(hyper, question, arguments):
    result = subprocess.run(
        [hyper, "run", "--json", "--preset", "short", "--seed", "1", *arguments, question],
        capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"hyper run failed with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def margin_at(root, prompt, text, other):
    """Top-2 margin of the server's distribution where two texts part, in nats."""
    common = os.path.commonprefix([text, other])
    answer = post(root + "/v1/completions",
                  {"prompt": prompt + common, "max_tokens": 1, "logprobs": 2, "temperature": 0})
    top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return abs(top[0]["logprob"] - top[1]["logprob"])


def check_greedy(arguments, questions):
    """Same texts from the server and in process."""
    greedy = ["--method", "sc", "--width", "1", "--temperature", "0"]
    equal = 0
    far = []
    with llama_server(arguments.llama_server, arguments.model, 1, 1024) as root:
        for question in questions:
            there = hyper_run(arguments.hyper, question, [*greedy, "--engine", root + "/v1"])
            here = hyper_run(arguments.hyper, question, [*greedy, "--model", arguments.model,
                                                         "--threads", "1"])
            texts = [run["paths"][0]["text"] for run in (there, here)]
            if there["prompt"] != here["prompt"]:
                sys.exit(f"prompts differ: {there['prompt']!r} {here['prompt']!r}")
            if texts[0] == texts[1]:
                equal += 1
                continue
            margin = margin_at(root, there["prompt"], *texts)
            print(f"  first divergence with a top-2 margin of {margin:.4f} nat")
            if margin >= CLOSE_NATS:
                far.append(question)
    print(f"greedy: {equal} of {len(questions)} texts are equal")
    return equal >= LEAST_EQUAL * len(questions) and not far


def check_methods(arguments, questions):
    """SC and HyPER end to end, with fewer slots than lanes too, and in closed requests."""
    fine = True
    with llama_server(arguments.llama_server, arguments.model, 16, 16384) as root:
        probe = json.loads(subprocess.run([arguments.hyper, "probe", "--json", root + "/v1"],
                                          capture_output=True, text=True, check=True).stdout)
        print(json.dumps(probe["findings"], indent=1))
        wanted = {"server": "llama-server", "raw log-probabilities": "yes", "seeds": "yes",
                  "prompts as token ids": "yes", "generated token ids": "yes",
                  "chat template": "/apply-template", "sequences at once": "16"}
        for name, value in wanted.items():
            if probe["findings"][name] != value:
                print(f"the probe finds {name}: {probe['findings'][name]}, not {value}")
                fine = False
        for method, more in (("sc", []), ("hyper", []), ("hyper", ["--grant", "16"])):
            run = hyper_run(arguments.hyper, questions[0],
                            ["--engine", root + "/v1", "--method", method, "--width", "16", *more])
            statuses = [path["status"] for path in run["paths"]]
            print(f"{method} {' '.join(more)}: answer {run['answer']}, {len(statuses)} paths,"
                  f" {run['ledger']['generated']} tokens, {run['ledger']['recomputed']} again")
            fine = fine and run["answer"] is not None and "failed" not in statuses
            fine = fine and not run["partial"]
            fine = fine and all("</think>" in path["text"] for path in run["paths"]
                                if path["status"] == "finished")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("llama_server")
    parser.add_argument("model")
    parser.add_argument("suite")
    parser.add_argument("--questions", type=int, default=50)
    arguments = parser.parse_args()
    with open(arguments.suite, encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in lines][:arguments.questions]
    fine = check_methods(arguments, questions)
    fine = check_greedy(arguments, questions) and fine
    print("passed" if fine else "FAILED")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
