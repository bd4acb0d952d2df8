#!/usr/bin/env python3
"""Compares the log-likelihoods that lm-eval reads from `hyper serve` with llama-server's.

    tests/server/likelihood_check.py HYPER LM_EVAL LLAMA_SERVER [--documents N]

The Python that runs it has gguf; LM_EVAL is of `pip install 'lm-eval[api]' transformers`. lm-eval runs
a multiple-choice task of local questions on the bundled model, once with prompts as tokens and once
as text. llama-server does not give the log-probabilities of a prompt, so it is asked for those of
every next token behind each start of the text, with its own tokenizer.

Both servers have the weights and the KV cache in F32, without fused attention. In F16 each rounds
other sums, by some 0.01 a token, and by more where that lets a row choose another expert. Run by
hand: check-full has no llama-server.
"""

import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import gguf
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "models/tinymath/tinymath-moe-6m-f16.gguf"
TOLERANCE = 1e-3  # of a choice's whole log-likelihood
PEER_PORT = 18937

TASK = """task: tinymath_choice
dataset_path: json
dataset_kwargs:
  data_files:
    test: QUESTIONS
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: 0
metric_list:
  - metric: acc
"""


def write_questions(path, count):
    """The right answer, wrong ones, and texts that the model would not write."""
    lines = (ROOT / "models/tinymath/suite/evaluation-level1.jsonl").read_text().splitlines()[:count]
    with open(path, "w") as file:
        for number, line in enumerate(lines):
            row = json.loads(line)
            choices = [row["answer"], "1" + row["answer"], f"\\boxed{{{number}}}",
                       "so the answer isn't in € or 数"]
            file.write(json.dumps({"question": row["question"], "choices": choices}) + "\n")


def write_f32(path):
    """The bundled model with its weights in F32."""
    source = gguf.GGUFReader(MODEL)
    target = gguf.GGUFWriter(path, source.fields["general.architecture"].contents())
    for field in source.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue  # of the file, or written already
        value = 0 if field.name == "general.file_type" else field.contents()
        of_array = {"sub_type": field.types[-1]} if field.types[0] == gguf.GGUFValueType.ARRAY else {}
        target.add_key_value(field.name, value, field.types[0], **of_array)
    for tensor in source.tensors:
        target.add_tensor(tensor.name, numpy.array(tensor.data).astype(numpy.float32))
    target.write_header_to_file()
    target.write_kv_data_to_file()
    target.write_tensors_to_file()
    target.close()


def write_tokenizer(folder):
    """The folder that transformers reads."""
    folder.mkdir()
    (folder / "tokenizer.json").write_text((ROOT / "models/tinymath/tokenizer.json").read_text())
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast", '
                                                  '"eos_token": "<|im_end|>"}')


def start_hyper(hyper, work):
    out = work / "serve.out"
    with open(out, "w") as file:
        server = subprocess.Popen(
            [hyper, "serve", "--port", "0", "--threads", "1", "--model", work / "f32.gguf", "--name",
             "tinymath", "--kv-type", "f32", "--flash-attention", "off"], stdout=file)
    while not (found := re.search(r" at (http://\S+)/$", out.read_text(), re.M)):
        assert server.poll() is None, "hyper serve ended"
        time.sleep(0.1)
    return server, found.group(1)


def start_peer(program, work):
    with open(work / "peer.log", "w") as log:
        server = subprocess.Popen(
            [program, "-m", work / "f32.gguf", "--host", "127.0.0.1", "--port", str(PEER_PORT), "-t", "1",
             "-fa", "off", "-ctk", "f32", "-ctv", "f32"], stdout=log, stderr=log)
    url = f"http://127.0.0.1:{PEER_PORT}"
    while True:
        assert server.poll() is None, (work / "peer.log").read_text()
        try:
            urllib.request.urlopen(url + "/health")  # a 503 until the model is loaded
            return server, url
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def run_lm_eval(program, url, work, tokenized):
    """Per choice: its prompt, its text, the log-likelihood, and whether every token is the likeliest."""
    out = work / f"out-{tokenized}"
    arguments = (f"base_url={url}/v1/completions,model=tinymath:plain,tokenizer={work}/tokenizer,"
                 f"tokenized_requests={tokenized},num_concurrent=4,max_retries=1")
    subprocess.run(
        [program, "--model", "local-completions", "--model_args", arguments, "--include_path",
         work / "tasks", "--tasks", "tinymath_choice", "--log_samples", "--output_path", out],
        check=True, env={**os.environ, "HF_HOME": str(work / "hf"), "HF_HUB_OFFLINE": "1",
                         "HF_DATASETS_OFFLINE": "1", "OPENAI_API_KEY": "none"})
    (path,) = glob.glob(f"{out}/**/samples_*.jsonl", recursive=True)
    samples = [json.loads(line) for line in open(path)]
    choices = []
    for sample in sorted(samples, key=lambda sample: sample["doc_id"]):
        for number in range(len(sample["arguments"])):
            asked = sample["arguments"][f"gen_args_{number}"]
            ((likelihood, greedy),) = sample["resps"][number]
            choices.append((asked["arg_0"], asked["arg_1"], float(likelihood), str(greedy) == "True"))
    return choices


class Peer:
    def __init__(self, url):
        self.url = url

    def tokens(self, text):
        return post(self.url + "/tokenize", {"content": text, "add_special": False})["tokens"]

    def likelihood(self, context, text):
        """As lm-eval counts: the tokens of the whole that are not the context's."""
        behind = len(self.tokens(context))
        whole = self.tokens(context + text)
        assert behind < len(whole)
        total, greedy = 0.0, True
        for place in range(behind, len(whole)):
            reply = post(self.url + "/completion", {
                "prompt": whole[:place], "n_predict": 1, "n_probs": 1 << 20, "temperature": 0,
                "post_sampling_probs": False, "cache_prompt": True})
            places = reply["completion_probabilities"][0]["top_logprobs"]
            by_token = {entry["id"]: entry["logprob"] for entry in places}
            total += by_token[whole[place]]
            greedy = greedy and by_token[whole[place]] == max(by_token.values())
        return total, greedy, len(whole) - behind


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("hyper")
    parser.add_argument("lm_eval")
    parser.add_argument("llama_server")
    parser.add_argument("--documents", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "tasks").mkdir()
        write_questions(work / "questions.jsonl", options.documents)
        (work / "tasks/choice.yaml").write_text(TASK.replace("QUESTIONS", str(work / "questions.jsonl")))
        write_tokenizer(work / "tokenizer")
        write_f32(work / "f32.gguf")
        servers = []
        try:
            server, url = start_hyper(options.hyper, work)
            servers.append(server)
            by_tokens = run_lm_eval(options.lm_eval, url, work, tokenized=True)
            by_text = run_lm_eval(options.lm_eval, url, work, tokenized=False)
            server, url = start_peer(options.llama_server, work)
            servers.append(server)
            peer = Peer(url)
            wanted = [peer.likelihood(choice[0], choice[1]) for choice in by_tokens]
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    bad = 0
    for form, choices in (("tokens", by_tokens), ("text", by_text)):
        assert len(choices) == len(wanted) == 4 * options.documents, len(choices)
        apart = [abs(choice[2] - right[0]) for choice, right in zip(choices, wanted)]
        unlike = sum(choice[3] != right[1] for choice, right in zip(choices, wanted))
        greedy = sum(right[1] for right in wanted)
        print(f"prompts as {form}: {len(choices)} log-likelihoods of {sum(right[2] for right in wanted)} tokens, "
              f"{min(right[0] for right in wanted):.3f} to {max(right[0] for right in wanted):.3f}; apart by up to "
              f"{max(apart):.2e}; likeliest text {greedy} times, {unlike} said otherwise")
        bad += sum(distance > TOLERANCE for distance in apart) + unlike
    print("FAILED" if bad else "ok")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
