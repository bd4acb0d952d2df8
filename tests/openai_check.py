"""Checks a running server with the official `openai` client. Part of `make check-full`.

    python3 tests/openai_check.py URL      (URL ends in /v1; the model served is tinymath)
"""

import random
import socket
import sys
import threading
import time
import urllib.request
from urllib.parse import urlparse

import openai

URL = sys.argv[1]
CLIENT = openai.OpenAI(base_url=URL, api_key="none", max_retries=0)
QUESTION = [{"role": "user", "content": "Solve 5x+43=173 for x."}]


def metric(name):
    text = urllib.request.urlopen(URL.removesuffix("/v1") + "/metrics").read().decode()
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(f"hyper_{name} ")))


def check_chat():
    reply = CLIENT.chat.completions.create(model="tinymath:plain", messages=QUESTION, seed=3, n=3, max_tokens=60)
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in reply.choices}) > 1, "equal texts"
    again = CLIENT.chat.completions.create(model="tinymath:plain", messages=QUESTION, seed=3, n=1, max_tokens=60)
    assert again.usage.completion_tokens <= 60
    voted = CLIENT.chat.completions.create(
        model="tinymath:hyper", messages=QUESTION, seed=1, extra_body={"hyper": {"width": 8}})
    assert voted.model_extra["hyper"]["answer"] is not None, voted
    assert voted.usage.completion_tokens > voted.usage.model_extra["hyper"]["lanes_opened"]


def check_stream():
    arguments = dict(model="tinymath:plain", messages=QUESTION, seed=5, temperature=0, max_tokens=80)
    whole = CLIENT.chat.completions.create(**arguments)
    chunks = list(CLIENT.chat.completions.create(stream=True, stream_options={"include_usage": True}, **arguments))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert chunks[0].choices[0].delta.role == "assistant"


def check_others():
    logprobs = CLIENT.chat.completions.create(
        model="tinymath:plain", messages=QUESTION, logprobs=True, top_logprobs=5, max_tokens=200).choices[0].logprobs
    assert all(len(entry.top_logprobs) == 5 and entry.logprob <= 0 for entry in logprobs.content)
    texts = CLIENT.completions.create(model="tinymath:plain", prompt=["1 + 1 =", "2 + 2 ="], max_tokens=4).choices
    assert len(texts) == 2
    response = CLIENT.responses.create(model="tinymath:plain", input="1 + 1 = ?", max_output_tokens=200)
    assert response.output_text
    assert any(model.id == "tinymath:sc" for model in CLIENT.models.list())
    for wrong in ({"n": 0}, {"top_logprobs": 21, "logprobs": True}):
        try:
            CLIENT.chat.completions.create(model="tinymath:plain", messages=QUESTION, **wrong)
            raise AssertionError(f"{wrong} was taken")
        except openai.BadRequestError as error:
            assert error.param in wrong, error


def leave_early(seed):
    """Sends a request and closes the connection after a random moment."""
    place = urlparse(URL)
    moment = random.Random(seed).random()
    body = ('{"model": "tinymath:plain", "stream": %s, "n": 2, "max_tokens": 300, "messages": '
            '[{"role": "user", "content": "12 * 7 = ?"}]}' % ("true" if seed % 2 else "false"))
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\n"
                            f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        time.sleep(moment)
        connection.settimeout(0.01)
        try:
            head = connection.recv(64)
            assert not head or head.split()[1] in (b"200", b"429"), head
        except TimeoutError:
            pass


def check_leavers(count=200):
    threads = [threading.Thread(target=leave_early, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    end = time.time() + 60
    while metric("runs_running") + metric("runs_waiting") > 0:
        assert time.time() < end, "runs are left"
        time.sleep(0.1)
    assert metric("lanes_open") == metric("prompt_cache_lanes"), "lanes are left"
    assert metric("kv_cells_used") <= metric("prompt_cache_cells"), "cells are left"


for check in (check_chat, check_stream, check_others, check_leavers):
    check()
    print("ok:", check.__name__)
