#!/usr/bin/env python3
"""Seconds and tokens per question, and the accuracy that they buy, of HyPER and of other engines.

    bench/time_to_answer.py MODEL.gguf SUITE.jsonl [--hyper build/hyper]
        [--llama-server PROGRAM] [--python PYTHON --checkpoint FOLDER --engines transformers,vllm]
        [--questions 20] [--width 16] [--max-tokens 400] [--threads 1] [--seeds 1] [--cpus 0]

The rows of hyper are self-consistency (sc), DeepConf and HyPER, in process. Self-consistency of
the other engines is what their users write: `--width` samples of the same prompt at once, with
temperature 0.8 and no filter, and a majority of their answers. Of llama-server: one request for
each sample, all at once. Of transformers: generate() with num_return_sequences. Of vLLM: generate()
with n. Answers are read from texts by `hyper extract`, for all of them.

Questions are asked one after another; the engines take turns, each asking all questions once for
each seed. Seconds are those of a question with the model loaded: not the start, and not the reading
of answers. Each engine has had a question before that is not counted. All run on the --cpus, with
--threads threads. Needs Python; transformers and vLLM are in the environment of --python, where the
model is a checkpoint in F32. Prints a Markdown table.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "remote"))
import servers  # noqa: E402

TEMPERATURE = 0.8
CONTEXT = 1024


def answer_of(arguments, text):
    """The answer in a text without special tokens; None where there is none."""
    done = subprocess.run([arguments.hyper, "extract", "--kind", "integer"],
                          input=text, capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)
    return None if read["tentative"] else read["answer"]


def majority(answers):
    votes = collections.Counter(answer for answer in answers if answer is not None)
    return votes.most_common(1)[0][0] if votes else None


class Hyper:
    """`hyper run`, whose own clock leaves out the loading of the model."""

    def __init__(self, arguments, method):
        self.arguments, self.method = arguments, method

    def ask(self, question, seed):
        a = self.arguments
        command = [a.hyper, "run", "--json", "--timing", "--preset", "short", "--model", a.model,
                   "--method", self.method, "--width", str(a.width), "--seed", str(seed),
                   "--max-tokens", str(a.max_tokens), "--temperature", str(TEMPERATURE),
                   "--threads", str(a.threads), "--determinism", "fast", question["question"]]
        run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return run["timing"]["wall_s"], run["ledger"]["effective"], run["answer"], run["prompt"]


class LlamaServer:
    """llama-server, asked for all samples at once."""

    def __init__(self, arguments, stack):
        self.arguments = arguments
        more = ["--kv-unified", "-fa", "on", "--threads", str(arguments.threads)]
        self.url = stack.enter_context(servers.llama_server(
            arguments.llama_server, arguments.model, arguments.width, CONTEXT, more))

    def sample(self, prompt, seed):
        body = {"prompt": prompt, "n_predict": self.arguments.max_tokens, "seed": seed,
                "temperature": TEMPERATURE, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
                "samplers": ["temperature"], "cache_prompt": True}
        request = urllib.request.Request(self.url + "/completion", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as reply:
            return json.load(reply)

    def ask(self, prompt, seed):
        begin = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(self.arguments.width) as pool:
            replies = list(pool.map(lambda i: self.sample(prompt, seed * 1000 + i),
                                    range(self.arguments.width)))
        seconds = time.perf_counter() - begin
        return (seconds, sum(reply["tokens_predicted"] for reply in replies),
                [reply["content"] for reply in replies])


class Worker:
    """An engine of Python, in a process of its own: a line of JSON for each question."""

    def __init__(self, arguments, engine, stack):
        environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), HF_HUB_OFFLINE="1",
                           VLLM_CPU_KVCACHE_SPACE="1", VLLM_CPU_OMP_THREADS_BIND="nobind",
                           VLLM_NO_USAGE_STATS="1", VLLM_PLUGINS="",
                           VLLM_ENABLE_V1_MULTIPROCESSING="0")
        command = [arguments.python, __file__, arguments.checkpoint, "-", "--worker", engine,
                   "--width", str(arguments.width), "--max-tokens", str(arguments.max_tokens),
                   "--threads", str(arguments.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        stack.callback(self.process.wait)
        stack.callback(self.process.stdin.close)

    def ask(self, prompt, seed):
        self.process.stdin.write(json.dumps([prompt, seed]) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                return told["seconds"], told["tokens"], told["texts"]
        return sys.exit("a worker has ended")


def transformers_generator(arguments):
    import torch
    import transformers
    torch.set_num_threads(arguments.threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32)
    end = model.generation_config.eos_token_id or tokenizer.eos_token_id
    ends = set(end if isinstance(end, list) else [end])

    def generate(prompt, seed):
        torch.manual_seed(seed)
        inputs = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        length = inputs["input_ids"].shape[1]
        with torch.inference_mode():
            rows = model.generate(**inputs, do_sample=True, temperature=TEMPERATURE, top_k=0,
                                  top_p=1.0, num_return_sequences=arguments.width,
                                  max_new_tokens=arguments.max_tokens,
                                  pad_token_id=tokenizer.pad_token_id)
        texts, tokens = [], 0
        for row in rows[:, length:].tolist():
            stop = next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
            tokens += stop
            texts.append(tokenizer.decode(row[:stop], skip_special_tokens=True))
        return tokens, texts
    return generate


def vllm_generator(arguments):
    import vllm
    engine = vllm.LLM(arguments.model, dtype="float32", max_model_len=CONTEXT, enforce_eager=True,
                      max_num_seqs=arguments.width)

    def generate(prompt, seed):
        parameters = vllm.SamplingParams(n=arguments.width, temperature=TEMPERATURE, top_p=1.0,
                                         top_k=-1, max_tokens=arguments.max_tokens, seed=seed)
        outputs = engine.generate([prompt], parameters, use_tqdm=False)[0].outputs
        return sum(len(each.token_ids) for each in outputs), [each.text for each in outputs]
    return generate


def work(arguments):
    """The worker process."""
    generate = {"transformers": transformers_generator,
                "vllm": vllm_generator}[arguments.worker](arguments)
    for line in sys.stdin:
        prompt, seed = json.loads(line)
        begin = time.perf_counter()
        tokens, texts = generate(prompt, seed)
        print(json.dumps({"seconds": time.perf_counter() - begin, "tokens": tokens,
                          "texts": texts}), flush=True)


def measure(arguments, questions, stack):
    """name -> [(seconds, tokens, right)] over all questions and seeds."""
    own = {f"hyper, {method}": Hyper(arguments, method) for method in ("sc", "deepconf", "hyper")}
    others = {}
    if arguments.llama_server:
        others["llama-server, sc"] = LlamaServer(arguments, stack)
    for engine in filter(None, arguments.engines.split(",")):
        others[f"{engine}, sc"] = Worker(arguments, engine, stack)
    prompts = {}
    rows = collections.defaultdict(list)
    for name, engine in own.items():  # warms up, and gives the prompts
        for question in questions if not prompts else questions[:1]:
            prompts[question["id"]] = engine.ask(question, 1)[3]
    for engine in others.values():
        engine.ask(prompts[questions[0]["id"]], 99)
    for seed in range(1, arguments.seeds + 1):
        for name, engine in own.items():
            for question in questions:
                seconds, tokens, answer, _ = engine.ask(question, seed)
                rows[name].append((seconds, tokens, answer == question["answer"]))
        for name, engine in others.items():
            for question in questions:
                seconds, tokens, texts = engine.ask(prompts[question["id"]], seed)
                answer = majority([answer_of(arguments, text) for text in texts])
                rows[name].append((seconds, tokens, answer == question["answer"]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("suite")
    parser.add_argument("--hyper", default=str(ROOT / "build/hyper"))
    parser.add_argument("--llama-server")
    parser.add_argument("--python")
    parser.add_argument("--checkpoint")
    parser.add_argument("--engines", default="", help="of transformers and vllm")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cpus", default="", help="CPUs that all may use, such as 0,1")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments)
    if arguments.cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in arguments.cpus.split(",")})
    lines = pathlib.Path(arguments.suite).read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines[:arguments.questions]]
    with contextlib.ExitStack() as stack:
        rows = measure(arguments, questions, stack)
    print("| engine, method | seconds a question | median, lowest to highest | tokens a question |"
          " tokens/s | right |\n|---|---|---|---|---|---|")
    for name, runs in rows.items():
        seconds, tokens, right = (list(column) for column in zip(*runs))
        print(f"| {name} | {statistics.mean(seconds):.3f} | {statistics.median(seconds):.3f} "
              f"({min(seconds):.3f} to {max(seconds):.3f}) | {statistics.mean(tokens):.0f} | "
              f"{sum(tokens) / sum(seconds):,.0f} | {sum(right)} of {len(right)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
