#!/usr/bin/env python3
"""A stand-in that speaks SGLang's wire format, for recordings where SGLang itself cannot run.

The format is written down from its source (python/sglang/srt/entrypoints/openai: protocol.py,
serving_completions.py, serving_tokenize.py, utils.py, as of November 2026). What is odd there is
kept: log-probabilities are parallel lists whose alternatives are an object by text, so that equal
texts fall together and parts of a character are all named U+FFFD; text_offset is always -1; text is
held back until a character is whole; the end token has a log-probability and an id but no text;
`matched_stop` names it; errors of validation are {"object": "error", ...}; /detokenize leaves
special tokens out unless it is told not to. The texts are made up: one token for each byte.
Standard library only.

    tests/remote/sglang_wire.py PORT
"""

import hashlib
import http.server
import json
import math
import sys

END = 256  # of a text, without bytes of its own
OPEN, CLOSE, TURN = 257, 258, 259
SPECIAL = {END: "<|end|>", OPEN: "<think>", CLOSE: "</think>", TURN: "<|turn|>"}
CONTEXT = 2048


def encode(text):
    """Ids of a text: its bytes, special tokens by name."""
    ids = []
    while text:
        for token, name in SPECIAL.items():
            if text.startswith(name):
                ids.append(token)
                text = text[len(name):]
                break
        else:
            ids += text[0].encode()
            text = text[1:]
    return ids


def decode(ids, skip_special=True):
    out = b""
    for token in ids:
        out += bytes([token]) if token < END else b"" if skip_special else SPECIAL[token].encode()
    return out.decode(errors="replace")


def story(seed):
    """What a seed makes the model say; a word as the seed asks for the text of the recordings."""
    if isinstance(seed, str):
        return encode("\u00bd \u4f60\u597d \U0001f30d \U0001f600!") + [END]
    digest = hashlib.sha256(str(seed).encode()).digest()
    words = ["so ", "we ", "add ", "them ", "\u00bd ", "\U0001f30d ", "and "]
    text = "".join(words[byte % len(words)] for byte in digest[: 3 + digest[0] % 4])
    return encode(f"{text}</think>\\boxed{{{42 if digest[1] % 4 else 7}}}") + [END]


def top_list(seed, place, token, count):
    """Made-up alternatives [(logprob, id)], the chosen one among them, most probable first."""
    digest = hashlib.sha256(f"{seed} {place}".encode()).digest()
    sure = 0.5 + digest[0] / 600
    ids = [token] + [value for value in range(97, 123) if value != token]
    rest = [math.exp(-0.4 * rank - digest[1 + rank % 8] / 600) for rank in range(1, count)]
    scale = 0.98 * (1 - sure) / max(sum(rest), 1e-9)
    values = [sure] + [scale * value for value in rest]
    return sorted(((math.log(value), ids[rank]) for rank, value in enumerate(values)),
                  reverse=True)


def logprobs(seed, start, ids, count):
    """Parallel lists of some tokens."""
    lists = {"text_offset": [], "token_logprobs": [], "tokens": [], "top_logprobs": []}
    for place, token in enumerate(ids, start):
        top = top_list(seed, place, token, max(count, 1))
        lists["text_offset"].append(-1)
        lists["tokens"].append(decode([token], False))
        lists["token_logprobs"].append(next(value for value, entry in top if entry == token))
        named = {}
        for value, entry in top[:count]:
            named.setdefault(decode([entry], False), value)
        lists["top_logprobs"].append(named if count else None)
    return lists


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message, kind="BadRequestError"):
        self.reply(status, {"object": "error", "message": message, "type": kind, "param": None,
                            "code": status})

    def do_GET(self):
        if self.path == "/v1/models":
            card = {"id": "made-up", "object": "model", "created": 1, "owned_by": "sglang",
                    "root": "made-up", "parent": None, "max_model_len": CONTEXT}
            self.reply(200, {"object": "list", "data": [card]})
        else:
            self.reply(404, {"detail": "Not Found"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize" and "messages" in body:
            text = "".join(f"{entry['role']}: {entry['content']}<|turn|>"
                           for entry in body["messages"])
            self.tokens(encode(text + "<think>"))
        elif self.path == "/tokenize":
            self.tokens(encode(body["prompt"]))
        elif self.path == "/detokenize":
            self.reply(200, {"text": decode(body["tokens"], body.get("skip_special_tokens", True))})
        elif self.path == "/v1/completions" and not isinstance(body.get("max_tokens", 16), int):
            self.refuse(400, "[{'type': 'int_parsing', 'loc': ('body', 'max_tokens')}]")
        elif self.path == "/v1/completions":
            self.complete(body)
        elif self.path == "/v1/chat/completions":
            message = {"role": "assistant", "content": "2", "reasoning_content": "1 and 1",
                       "tool_calls": None}
            self.reply(200, {"object": "chat.completion", "choices": [
                {"index": 0, "message": message, "finish_reason": "stop", "matched_stop": END}]})
        else:
            self.reply(404, {"detail": "Not Found"})

    def tokens(self, ids):
        self.reply(200, {"tokens": ids, "count": len(ids), "max_model_len": CONTEXT})

    def choice(self, body, index, ids, start, text, finish):
        """A choice; `finish` once it has one."""
        count = body.get("logprobs")
        lists = None if count is None else logprobs(body.get("seed"), start, ids, count)
        choice = {"index": index, "text": text, "logprobs": lists, "finish_reason": finish,
                  "matched_stop": END if finish == "stop" else None}
        if body.get("return_token_ids"):
            choice["token_ids"] = ids
        return choice

    def complete(self, body):
        prompt = body["prompt"] if isinstance(body["prompt"], list) else encode(body["prompt"])
        seed = body.get("seed")
        if body.get("temperature", 1) == 0 and isinstance(seed, int):
            seed = 0
        body["seed"] = seed
        ids = story(seed)[: body["max_tokens"]]
        finish = "stop" if ids[-1] == END else "length"
        if body.get("stream"):
            self.stream(body, ids, finish)
            return
        text = (decode(prompt) if body.get("echo") else "") + decode(
            ids, body.get("skip_special_tokens", True) or ids[-1] == END)
        choices = [self.choice(body, index, ids, 0, text, finish)
                   for index in range(body.get("n", 1))]
        usage = {"prompt_tokens": len(prompt), "total_tokens": len(prompt) + len(ids),
                 "completion_tokens": len(ids), "prompt_tokens_details": None,
                 "reasoning_tokens": 0}
        self.reply(200, {"id": "1", "object": "text_completion", "created": 1, "model": "made-up",
                         "choices": choices, "usage": usage,
                         "metadata": {"weight_version": "default"}})

    def stream(self, body, ids, finish):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent = 0
        skip = body.get("skip_special_tokens", True)
        for place, token in enumerate(ids):
            last = place + 1 == len(ids)
            text = decode([entry for entry in ids[: place + 1] if entry != END], skip)
            whole = text if last else text.rstrip("\ufffd")
            choice = self.choice(body, 0, [token], place, whole[sent:], finish if last else None)
            sent = max(sent, len(whole))
            self.event(json.dumps({"id": "1", "object": "text_completion", "created": 1,
                                   "model": "made-up", "choices": [choice], "usage": None}))
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, data):
        frame = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
