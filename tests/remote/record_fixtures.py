#!/usr/bin/env python3
"""Records what real servers say on the wire, for the tests of CI (tests/remote/replay_test.cc).

    tests/remote/record_fixtures.py HYPER FOLDER llama-server PROGRAM MODEL
    tests/remote/record_fixtures.py HYPER FOLDER vllm PYTHON CHECKPOINT
    tests/remote/record_fixtures.py HYPER FOLDER sglang PYTHON sglang_wire.py

The last is the stand-in for SGLang. Writes FOLDER/SERVER-NAME.json: the exchanges of a probe, of short runs, and of texts that the
server was made to write. Standard library only.
"""

import argparse
import json
import os
import sys

import recorder
import servers

SHORT = "What is 7*8?"
STORY = ("Jack has 3 crates with 21 books each. Jack gives away 12. How many books does Jack have"
         " now?")
# Said, so that the recordings do not depend on the preset.
PRUNING = ["--window", "8", "--threshold", "top:3"]
HYPER = ["--method", "hyper", "--actions", "none,multi_token,branch", "--width", "4",
         "--warmup", "2", "--max-tokens", "60",
         "--late-expansion", "true", "--keep-finished", "true", *PRUNING]
RUNS = {
    "sc": (SHORT, ["--method", "sc", "--width", "2", "--max-tokens", "60"]),
    "deepconf": (STORY, ["--method", "deepconf", "--width", "3", "--warmup", "2",
                         "--max-tokens", "24", "--window", "8"]),
    "hyper": (SHORT, HYPER),
    "pruned": (STORY, HYPER),
    "grant": (SHORT, ["--method", "hyper", "--grant", "8", "--width", "2", "--warmup", "2",
                      "--max-tokens", "20", *PRUNING]),
}
# Characters of two to four bytes, several of them cut over tokens.
TEXT = "\u00bd \u4f60\u597d \U0001f30d \U0001f600!"
FIELDS = ("prompt", "messages", "content", "tokens", "stream", "max_tokens", "temperature", "seed",
          "n", "echo", "logprobs", "parse_special")


def key(exchange):
    request = exchange["request"] or {}
    return json.dumps([exchange["method"], exchange["path"],
                       {name: request[name] for name in FIELDS if name in request}])


def write(folder, name, fixture):
    """One exchange a line, so that a change can be read."""
    exchanges = fixture.pop("exchanges")
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps(fixture)[:-1] + ', "exchanges": [\n')
        out.write(",\n".join(json.dumps(exchange) for exchange in exchanges) + "\n]}\n")
    print(f"{path}: {len(exchanges)} exchanges, {os.path.getsize(path)} bytes")


def written(kind, root, model):
    """A request that makes the server write TEXT, whatever the model wants."""
    request = {"model": model, "prompt": "Say:", "max_tokens": 60, "stream": True,
               "temperature": 0, "logprobs": 3, "seed": 1}
    if kind == "sglang":
        request.update(seed="written", return_token_ids=True, skip_special_tokens=False)
    elif kind == "llama-server":
        request["grammar"] = "root ::= " + json.dumps(TEXT, ensure_ascii=False)
    else:
        request.update(structured_outputs={"choice": [TEXT]}, return_token_ids=True,
                       skip_special_tokens=False, spaces_between_special_tokens=False)
    with recorder.recording(root) as proxy:
        servers.post_stream(proxy.root + "/v1/completions", request)
    return proxy.exchanges


def record(arguments, root):
    """All fixtures of one running server."""
    version = servers.version(arguments.server, root)
    about = {"server": version, "model": "tinymath"}
    with recorder.recording(root) as proxy:
        report = servers.hyper_probe(arguments.hyper, proxy.root + "/v1")
    report.pop("url", None)
    probed = {key(exchange) for exchange in proxy.exchanges}
    write(arguments.folder, arguments.server + "-probe",
          {**about, "report": report, "exchanges": proxy.exchanges})
    for name, (question, more) in RUNS.items():
        with recorder.recording(root) as proxy:
            run = servers.hyper_run(arguments.hyper, question,
                                    ["--engine", proxy.root + "/v1", *more])
        paths = [{"text": path["text"], "status": path["status"]} for path in run["paths"]]
        write(arguments.folder, f"{arguments.server}-{name}",
              {**about, "arguments": more, "question": question, "answer": run["answer"],
               "paths": paths,
               "exchanges": [entry for entry in proxy.exchanges if key(entry) not in probed]})
    write(arguments.folder, arguments.server + "-written",
          {**about, "text": TEXT,
           "exchanges": written(arguments.server, root, report["model"])})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("folder")
    parser.add_argument("server", choices=("llama-server", "vllm", "sglang"))
    parser.add_argument("program")
    parser.add_argument("model")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    start = {"llama-server": servers.llama_server, "vllm": servers.vllm_server,
             "sglang": servers.sglang_stand_in}[arguments.server]
    settings = (4, 1024) if arguments.server == "llama-server" else ()
    with start(arguments.program, arguments.model, *settings) as root:
        record(arguments, root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
