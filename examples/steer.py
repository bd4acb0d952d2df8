#!/usr/bin/env python3
"""Steers a run of `hyper serve`: asks a question, waits until its paths have written some tokens, and
opens more paths from the one that is the surest of itself.

    hyper serve
    python3 examples/steer.py --at 24 --text "Let me check that again. "
"""
import argparse
import json
import os
import threading
import urllib.request


def call(url, body=None, method=None):
    """The reply to a request, opened; `body` is sent as JSON."""
    headers = {"Content-Type": "application/json"}
    if os.environ.get("HYPER_API_KEY"):
        headers["Authorization"] = "Bearer " + os.environ["HYPER_API_KEY"]
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method))


def events(url):
    """The records of a run, live ones as they come."""
    with call(url + "/events") as stream:
        for line in stream:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def ask(arguments, started, reply):
    """Asks in a stream, whose headers name the run before its end."""
    body = {"model": arguments.model, "stream": True,
            "hyper": {"width": arguments.width, "token-records": True},
            "messages": [{"role": "user", "content": arguments.question}]}
    with call(arguments.url + "/v1/chat/completions", body) as stream:
        started(stream.headers["X-Hyper-Run"])
        for line in stream:
            if line.startswith(b"data: {"):
                chunk = json.loads(line[6:])
                for choice in chunk["choices"]:
                    reply.append(choice["delta"].get("content") or "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--model", default="tinymath:sc")
    parser.add_argument("--question", default="Solve 5x+43=173 for x.")
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--at", type=int, default=8, help="tokens that the new paths begin with")
    parser.add_argument("--text", default="", help="written behind them")
    parser.add_argument("-n", type=int, default=2)
    arguments = parser.parse_args()

    run_id, reply = [], []
    named = threading.Event()

    def started(name):
        run_id.append(name)
        named.set()

    asking = threading.Thread(target=ask, args=(arguments, started, reply))
    asking.start()
    named.wait()
    run = f"{arguments.url}/v1/runs/{run_id[0]}"

    sureness, forked = {}, False
    for record in events(run):
        if record["record"] == "token":
            sureness[record["path"]] = record["window_mean"] or 0.0
            if not forked and record["position"] >= arguments.at:
                forked = True
                surest = max(sureness, key=sureness.get)
                wish = {"at": arguments.at, "text": arguments.text, "n": arguments.n}
                with call(f"{run}/paths/{surest}/fork", wish) as answer:
                    print(f"path {surest} goes on in", json.load(answer)["paths"])
        elif record["record"] == "finish":
            print(f"path {record['path']}: {record['status']}, answer {record['answer']}")
        elif record["record"] == "result":
            print("answer:", record["answer"])
    asking.join()
    print("".join(reply))


if __name__ == "__main__":
    main()
