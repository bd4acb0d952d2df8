#!/usr/bin/env python3
"""The same runs on the CPU and on a device of Vulkan, which may be one in software: equal tokens.

    tests/vulkan_check.py HYPER FOLDER [CASE...]

FOLDER has ggml's backends with Vulkan. The model is the small dense one of tests/goldens/arch, with
weights that are random and not quantized. Cases: greedy, one path; forks, a tree of sampled paths.
For each: layers must lie on the device, the paths must have the same texts, and confidences that
differ by 0.01 at most. A driver in software compiles its programs first, which takes a minute. It
says nothing about speed, and Mesa's of Debian 12 crashes on experts, so none are here. The exit
status is the number of cases that fail. Standard library only.
"""

import json
import os
import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent / "goldens" / "arch"
TOLERANCE = 0.01
LIMIT_S = 3600
MODEL = "qwen3"
CASES = {
    "greedy": ["--method", "cot", "--temperature", "0"],
    "forks": ["--method", "rebase-conf", "--width", "3", "--step-tokens", "4",
              "--temperature", "0.8", "--seed", "1"],
}


def run(hyper, arguments):
    """The result of a run."""
    command = [hyper, "run", "--json", "--no-log", "--preset", "short", "--model",
               str(MODELS / f"{MODEL}.gguf"), "--max-tokens", "12", "--ctx", "512", "--threads", "1",
               "--determinism", "fast", *arguments, "hello"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=LIMIT_S,
                          env=dict(os.environ, GGML_VK_VISIBLE_DEVICES="0"))
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout)


def trouble(hyper, folder, arguments):
    """What is wrong with the device's run; None where nothing is."""
    cpu = run(hyper, [*arguments, "--gpu-layers", "0"])
    device = run(hyper, [*arguments, "--backend-dir", folder, "--gpu-layers", "99"])
    if not device["model"].get("gpu_layers"):
        return "no layer was on a device"
    if [path["text"] for path in cpu["paths"]] != [path["text"] for path in device["paths"]]:
        return "the texts differ"
    if cpu["ledger"]["generated"] == 0:
        return "nothing was generated"
    if "rebase-conf" in arguments and all(path["parent"] is None for path in device["paths"]):
        return "no path forked"
    apart = max(abs(a["mean_confidence"] - b["mean_confidence"])
                for a, b in zip(cpu["paths"], device["paths"]))
    print(f"   {len(cpu['paths'])} paths, {cpu['ledger']['generated']} tokens, "
          f"{device['model']['gpu_layers']} layers on the device, confidences within {apart:.5f}")
    return None if apart <= TOLERANCE else f"the confidences differ by {apart}"


def main():
    if len(sys.argv) < 3 or any(name not in CASES for name in sys.argv[3:]):
        sys.exit(__doc__)
    failed = 0
    for name in sys.argv[3:] or CASES:
        wrong = trouble(sys.argv[1], sys.argv[2], CASES[name])
        failed += wrong is not None
        print(f"== vulkan, {name}: {wrong or 'passed'}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
