#!/usr/bin/env python3
"""One model over two ggml-rpc-servers, against one process.

Starts and stops the servers itself, on free ports of the loopback. Needs a hyper that was built with
HYPER_LLAMA=source and GGML_RPC=ON, and the ggml-rpc-server of the same sources.

- Refined and plain runs with equal seeds must have equal tokens over no, one and two servers; the
  largest difference of a token's log-probability is printed.
- A server that is not there, is in use or speaks another protocol: one line, exit code 69.
- A server killed in the middle of `hyper eval`: one line that names it, exit code 75; started again,
  the same command must end with the answers of a study that nothing disturbed.
- A server killed under `hyper run --trace`: whole lines, equal to those of a run that ended.
Standard library only.

    tests/remote/rpc_check.py HYPER RPC_SERVER
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import servers

QUESTION = "Ben has 44 boxes with 23 books each. Ben buys 47 more. How many books does Ben have?"
RUNS = {
    "sc": ["--method", "sc", "--width", "8"],
    "hyper": ["--method", "hyper", "--width", "8", "--warmup", "4"],
    "refined": ["--method", "single-token-only", "--width", "8", "--warmup", "4"],
    "refined, fast": ["--method", "single-token-only", "--width", "8", "--warmup", "4",
                      "--determinism", "fast"],
    "roe": ["--method", "roe", "--routes", "8", "--width", "2", "--max-tokens", "60"],
}
REFINED = ("refined", "refined, fast", "roe")
LOST = 75
UNAVAILABLE = 69


def expect(condition, words):
    if not condition:
        sys.exit(f"FAILED: {words}")


def hyper(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def trace_of(program, folder, arguments, hosts, seed):
    """Records of one run, and its report."""
    path = os.path.join(folder, "trace.jsonl")
    more = ["--rpc", ",".join(hosts)] if hosts else []
    result = hyper(program, "run", "--preset", "short", "--threads", "1", "--seed", str(seed),
                   "--json", "--trace", path, *arguments, *more, QUESTION)
    expect(result.returncode == 0, f"hyper run over {hosts}: {result.stderr}")
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines], json.loads(result.stdout)


def tokens_of(records):
    """Every token with its path and position, and its log-probability."""
    return {(record["path"], record["position"]): (record["token"], record["logprob"])
            for record in records if record.get("record") == "token"}


def compare(name, one, other):
    """Largest difference of a log-probability; ends the program where a token differs."""
    here, there = tokens_of(one), tokens_of(other)
    expect(here.keys() == there.keys(), f"{name}: {len(here)} tokens and {len(there)}")
    different = [key for key in here if here[key][0] != there[key][0]]
    expect(not different, f"{name}: {len(different)} of {len(here)} tokens differ")
    return max(abs(here[key][1] - there[key][1]) for key in here)


def check_same_answers(program, folder, hosts):
    for name, arguments in RUNS.items():
        for seed in (1, 2):
            alone, report = trace_of(program, folder, arguments, [], seed)
            refined = report["ledger"]["refined"]
            expect(name not in REFINED or refined > 0, f"{name}: no token was refined")
            for count in range(1, len(hosts) + 1):
                spread, other = trace_of(program, folder, arguments, hosts[:count], seed)
                largest = compare(name, alone, spread)
                expect(report["answer"] == other["answer"], f"{name}: another answer")
                print(f"rpc: {name}, seed {seed}, {count} server(s): {len(tokens_of(alone))} tokens"
                      f" ({refined} refined) equal, log-probabilities within {largest:g} nat")


def complaint(result, code, *words):
    """Ends the program where a run did not fail as it should."""
    expect(result.returncode == code, f"exit code {result.returncode}, not {code}: {result.stderr}")
    last = result.stderr.splitlines()[-1] if result.stderr else ""
    expect(result.stderr.count("GGML") + result.stderr.count("#0") == 0, result.stderr)
    for word in words:
        expect(word in last, f"{word!r} is missing in {result.stderr!r}")
    print(f"rpc: {last}")


def check_refusals(program, hosts):
    def run(rpc):
        return hyper(program, "run", "--rpc", rpc, QUESTION)

    nobody = f"127.0.0.1:{servers.free_port()}"
    complaint(run(f"{hosts[0]},{nobody}"), UNAVAILABLE, nobody, "refused", "ggml-rpc-server")
    complaint(run("no-such-host.invalid:50052"), UNAVAILABLE, "no-such-host.invalid:50052")
    twice = hosts[0].replace("127.0.0.1", "localhost")
    complaint(run(f"{hosts[0]},{twice}"), UNAVAILABLE, twice, "one program at a time")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            for _ in range(2):
                client, _ = listener.accept()
                with client:
                    if client.recv(64):
                        client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        thread = threading.Thread(target=answer)
        thread.start()
        complaint(run(f"127.0.0.1:{listener.getsockname()[1]}"), UNAVAILABLE, "does not speak")
        thread.join()


def eval_command(program, study, hosts):
    return [program, "eval", "--methods", "single-token-only,sc", "--levels", "2", "--questions", "4",
            "--repeats", "2", "--width", "4", "--threads", "1", "--study", study, "--format", "csv",
            "--table", "main", *(["--rpc", ",".join(hosts)] if hosts else [])]


def answers_of(program, study):
    """Every answer by row, question and repeat, without what depends on the clock."""
    result = hyper(program, "export", study, "--jsonl", "--series")
    expect(result.returncode == 0, result.stderr)
    answers = {}
    for line in result.stdout.splitlines():
        item = json.loads(line)
        key = (item["run"]["label"], item["question"]["name"], item["repeat"])
        expect(key not in answers, f"{key} is there twice")
        answers[key] = {name: value for name, value in item.items() if name != "timing"}
    return answers


def kill_when(process, condition, victim):
    """Kills `victim` as soon as `condition` holds; returns what `process` says until its end."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if condition(line):
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            condition = bool  # an empty line, which never comes
    process.wait()
    return subprocess.CompletedProcess(process.args, process.returncode, "", "".join(lines))


def check_study(program, server, folder, hosts):
    whole, broken = (os.path.join(folder, name) for name in ("whole.db", "broken.db"))
    undisturbed = hyper(program, *eval_command(program, whole, hosts)[1:])
    expect(undisturbed.returncode == 0, undisturbed.stderr)
    for item in ("3/8 single-token-only", "3/8 sc"):
        with servers.rpc_server(server) as (lost, victim):
            process = subprocess.Popen(eval_command(program, broken, [hosts[0], lost]), text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            result = kill_when(process, lambda line: line.startswith(item), victim)
        complaint(result, LOST, lost, "start it again", "same command", "goes on")
        done = len(answers_of(program, broken))
        expect(0 < done < 16, f"{done} answers of 16 are stored")
        print(f"rpc: {done} of 16 answers stored when {lost} was killed")
    with servers.rpc_server(server, int(lost.split(":")[1])) as (again, _):
        command = eval_command(program, broken, [hosts[0], again])
        resumed = hyper(program, *command[1:])
    expect(resumed.returncode == 0, resumed.stderr)
    expect(answers_of(program, broken) == answers_of(program, whole), "the studies differ")
    expect(resumed.stdout == undisturbed.stdout, "the tables differ")
    print("rpc: 16 of 16 answers and the table as in an undisturbed study")


def check_trace(program, server, folder, hosts):
    path = os.path.join(folder, "lost.jsonl")
    arguments = ["--method", "sc", "--width", "48"]
    whole, _ = trace_of(program, folder, arguments, [], 5)
    with servers.rpc_server(server) as (lost, victim):
        process = subprocess.Popen(
            [program, "run", "--preset", "short", "--threads", "1", "--seed", "5", "--trace", path,
             *arguments, "--rpc", f"{lost},{hosts[0]}", QUESTION],
            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not os.path.exists(path + ".part") or os.path.getsize(path + ".part") < 20000:
            if process.poll() is not None:  # reading waits for the end
                expect(False, f"the run ended early: {process.stderr.read()}")
            time.sleep(0.005)
        victim.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    complaint(subprocess.CompletedProcess([], process.returncode, "", errors), LOST, lost)
    with open(path + ".part", encoding="utf-8") as lines:
        text = lines.read()
    expect(text.endswith("\n"), "the trace ends in the middle of a line")
    kept = [json.loads(line) for line in text.splitlines()]
    there, here = tokens_of(kept), tokens_of(whole)
    expect(there and all(here.get(place, [None])[0] == token for place, (token, _) in there.items()),
           "the trace is another run's")
    print(f"rpc: {len(kept)} whole records of {len(whole)} in the trace of the run that was cut off")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hyper")
    parser.add_argument("server")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        hosts = [stack.enter_context(servers.rpc_server(arguments.server))[0] for _ in range(2)]
        check_same_answers(arguments.hyper, folder, hosts)
        check_refusals(arguments.hyper, hosts)
        check_study(arguments.hyper, arguments.server, folder, hosts)
        check_trace(arguments.hyper, arguments.server, folder, hosts)
    print("rpc: all as it should be")


if __name__ == "__main__":
    main()
