"""Starts and stops the real servers that the remote engine is checked against.

Standard library only. Servers listen on the loopback, say nothing, and end with the `with` block.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

START_SECONDS = 900  # vLLM imports for minutes where the cores are taken
# Turn on the add-on of integrations/vllm, which has to be installed beside vLLM.
ADDON_ROWS = 48
ADDON_FLAGS = (
    "--block-size", "32", "--max-num-seqs", "64", "--max-num-active-seqs", "16",
    "--max-num-batched-tokens", "1024", "--max-num-scheduled-tokens", "960",
    "--worker-cls", "vllm_hyper.CPUWorker", "--scheduler-cls", "vllm_hyper.Scheduler",
    "--logits-processors", "vllm_hyper:SpecCheck",
    "--additional-config", json.dumps({"hyper": {"rows": ADDON_ROWS}}))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url, timeout=60):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return json.load(answer)


def post(url, body, timeout=60):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


@contextlib.contextmanager
def running(command, environment, url):
    """Runs `command` until the block ends; enters it when `url` answers."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # ends it too
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment,
                                   start_new_session=True)
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    sys.exit(f"{command[0]} did not start:\n{log.read()[-4000:]}")
                with contextlib.suppress(urllib.error.URLError, OSError):
                    urllib.request.urlopen(url, timeout=2).close()
                    break
                time.sleep(0.2)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextlib.contextmanager
def llama_server(program, model, slots, context, more=()):
    """A llama-server with `slots` sequences of `context` tokens each; gives its root URL."""
    port = free_port()
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(os.path.abspath(program)))
    command = [program, "-m", model, "--alias", "tinymath", "--host", "127.0.0.1", "--port",
               str(port), "-np", str(slots), "-c", str(slots * context), "--threads", "1",
               "--jinja", "--offline", *more]
    root = f"http://127.0.0.1:{port}"
    with running(command, environment, root + "/health"):
        yield root


@contextlib.contextmanager
def vllm_server(python, checkpoint, context=1024, more=(), addon=False):
    """A vLLM on the CPU with the model of folder `checkpoint`; gives its root URL."""
    port = free_port()
    environment = dict(os.environ, VLLM_CPU_KVCACHE_SPACE="1", VLLM_CPU_OMP_THREADS_BIND="nobind",
                       HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1", DO_NOT_TRACK="1",
                       OMP_NUM_THREADS="1")  # threads that wait spin, which costs others dear
    if addon:
        more = (*ADDON_FLAGS, *more)
        environment["VLLM_PLUGINS"] = "hyper"
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", checkpoint,
               "--served-model-name", "tinymath", "--host", "127.0.0.1", "--port", str(port),
               "--dtype", "float32", "--max-model-len", str(context), "--enforce-eager",
               "--max-logprobs", "20", *more]
    root = f"http://127.0.0.1:{port}"
    with running(command, environment, root + "/health"):
        yield root


@contextlib.contextmanager
def rpc_server(program, port=None, prefix=()):
    """A ggml-rpc-server on the CPU with one thread; gives "host:port" and the process."""
    port = port or free_port()
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(os.path.abspath(program)))
    process = subprocess.Popen(
        [*prefix, program, "-H", "127.0.0.1", "-p", str(port), "-t", "1"], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{program} did not start on port {port}")
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=2).close()
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def sglang_stand_in(python, script):
    """sglang_wire.py; gives its root URL."""
    port = free_port()
    root = f"http://127.0.0.1:{port}"
    with running([python, script, str(port)], dict(os.environ), root + "/v1/models"):
        yield root


def hyper_run(hyper, question, arguments, seed=1):
    """The JSON report of one run with preset short."""
    result = subprocess.run(
        [hyper, "run", "--json", "--preset", "short", "--seed", str(seed), *arguments, question],
        capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"hyper run failed with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def hyper_probe(hyper, url):
    result = subprocess.run([hyper, "probe", "--json", url], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"hyper probe failed with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def post_stream(url, body, timeout=60):
    """The data of a streamed answer's events."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return [line[6:].strip() for line in answer if line.startswith(b"data: ")]


def version(kind, root):
    """The server's name and version in words."""
    if kind == "sglang":
        return "a stand-in for SGLang, written from its source"
    if kind.startswith("vllm"):
        return "vLLM " + get(root + "/version")["version"]
    return "llama-server " + get(root + "/props").get("build_info", "")
