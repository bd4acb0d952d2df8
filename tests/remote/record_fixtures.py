#!/usr/bin/env python3
"""Records what real servers say on the wire, for the tests of CI (tests/remote/replay_test.cc).

    tests/remote/record_fixtures.py HYPER FOLDER llama-server PROGRAM MODEL
    tests/remote/record_fixtures.py HYPER FOLDER vllm PYTHON CHECKPOINT
    tests/remote/record_fixtures.py HYPER FOLDER vllm-addon PYTHON CHECKPOINT
    tests/remote/record_fixtures.py HYPER FOLDER sglang PYTHON sglang_wire.py

The last is the stand-in for SGLang. Writes FOLDER/SERVER-NAME.json: the exchanges of a probe, of
short runs with what they came to, and of texts that the server was made to write; of vLLM with the
add-on, of a run that refines. Standard library only.
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
# Every action may be taken, and one is taken for certain where there is room for it.
REFINING = ["--method", "hyper", "--width", "6", "--warmup", "2", "--max-tokens", "60",
            "--interval", "4", "--late-expansion", "true", *PRUNING, "--force-decision", "6"]
ADDON_RUNS = {"hyper": (SHORT, [*REFINING[:-1], "7", "--force-action", "single_token"])}
KEPT = ("answer", "votes", "stop", "decisions", "paths", "ledger")
# Characters of two to four bytes, several of them cut over tokens.
TEXT = "\u00bd \u4f60\u597d \U0001f30d \U0001f600!"
FIELDS = ("prompt", "messages", "content", "tokens", "stream", "max_tokens", "temperature", "seed",
          "n", "echo", "logprobs", "parse_special", "vllm_xargs")


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


def record_run(hyper, root, question, more, probe):
    """A run, and its exchanges with the server but those of its probe, which `probe` has."""
    probed = {key(exchange) for exchange in probe["exchanges"]}
    with recorder.recording(root) as proxy:
        run = servers.hyper_run(hyper, question, ["--engine", proxy.root + "/v1", *more])
    return {"arguments": more, "question": question, "answer": run["answer"],
            "run": {name: run[name] for name in KEPT},
            "paths": [{"text": path["text"], "status": path["status"]} for path in run["paths"]],
            "exchanges": [entry for entry in proxy.exchanges if key(entry) not in probed]}


def record_probe(hyper, root):
    with recorder.recording(root) as proxy:
        report = servers.hyper_probe(hyper, proxy.root + "/v1")
    report.pop("url", None)
    return {"report": report, "exchanges": proxy.exchanges}


def record(arguments, root):
    """All fixtures of one running server."""
    kind = arguments.server
    about = {"server": servers.version(kind, root), "model": "tinymath"}
    probe = record_probe(arguments.hyper, root)
    model = probe["report"]["model"]
    write(arguments.folder, kind + "-probe", {**about, **probe})
    for name, (question, more) in (ADDON_RUNS if kind == "vllm-addon" else RUNS).items():
        run = record_run(arguments.hyper, root, question, more, probe)
        write(arguments.folder, f"{kind}-{name}", {**about, **run})
    if kind != "vllm-addon":
        write(arguments.folder, kind + "-written",
              {**about, "text": TEXT, "exchanges": written(kind, root, model)})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hyper")
    parser.add_argument("folder")
    parser.add_argument("server", choices=("llama-server", "vllm", "vllm-addon", "sglang"))
    parser.add_argument("program")
    parser.add_argument("model")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    start = {"llama-server": servers.llama_server, "vllm": servers.vllm_server,
             "vllm-addon": servers.vllm_server,
             "sglang": servers.sglang_stand_in}[arguments.server]
    settings = {"llama-server": {"slots": 4, "context": 1024},
                "vllm-addon": {"addon": True}}.get(arguments.server, {})
    with start(arguments.program, arguments.model, **settings) as root:
        record(arguments, root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
