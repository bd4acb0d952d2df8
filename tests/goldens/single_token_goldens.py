"""Recomputes SingleToken (Sec. 3.2, Algorithm 2, App. D) on the bundled model in PyTorch.

The oracle of src/engine/llama/single_token_test.cc. It shares no code with the library: the model, the
random numbers (Philox4x32-10), the two-pass expert choice, Clean Cache and the aggregation are
written here again, from the paper and from the recipe at the head of src/core/random.h. Weights are
read from the F16 GGUF and computed with in F32.

    pip install torch numpy gguf
    python tests/goldens/single_token_goldens.py models/tinymath/tinymath-moe-6m-f16.gguf \
        tests/goldens/single_token.bin

The file, little endian: "HYST", u32 version, f64 tau, f64 lambda, u64 path key, u32 layers, u32
experts per token, u32 vocabulary, u32 runs; then for each run u32 variant, u32 K, u32 prompt length,
u32 tokens, i32 prompt[], i32 token[]; for each token u16 log-probabilities[vocabulary] in steps of 1/1600 nats
below zero (65535: anything lower), and for each layer and route one u32: the chosen experts as a bit
mask, with bit 31 where the last chosen and the first rejected score differ by at most 1e-4. Variant 1
is wrong on purpose: the routes count their predecessors in the order 0, K-1, ..., 1.

Shapes: K routes, E experts, m experts per token, D width, T positions, V vocabulary.
"""

from __future__ import annotations

import argparse
import math
import struct
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

TAU = 0.5
LAMBDA = 0.1
PATH_KEY = 0x1234_5678_9ABC_DEF0
CONFIDENCE_COUNT = 8
LOGPROB_FLOOR = -60.0
MARGIN = 1e-4
STEP = 1.0 / 1600.0
ROUTE_COUNTS = (2, 4, 8)
TOKENS_PER_COUNT = 210
TEMPERATURE = 0.8

QUESTIONS = (
    "Start with 25, add 13, add 40. What is the result?",
    "What is the remainder of 65*21+5 divided by 22?",
    "Pia has 17 crates with 45 toys each. Then the number grows to 4 times as many. How many toys does "
    "Pia have now?",
    "Solve 4x+128=152 for x.",
    "Leo buys 16 eggs at 15 dollars each, 28 books at 10 dollars each. What is the total cost in "
    "dollars?",
    "Start with 27, subtract 3, multiply by 9, multiply by 31, subtract 94, subtract 246. What is the "
    "result?",
)


# --- random numbers -------------------------------------------------------------------------------


def philox(key: int, counter: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Philox4x32-10 of Salmon et al. (SC 2011): a 64-bit key and four 32-bit counter words."""
    mask = 0xFFFF_FFFF
    k0, k1 = key & mask, key >> 32
    x0, x1, x2, x3 = counter
    for _ in range(10):
        p0, p1 = 0xD251_1F53 * x0, 0xCD9E_8D57 * x2
        x0, x1, x2, x3 = (p1 >> 32) ^ x1 ^ k0, p1 & mask, (p0 >> 32) ^ x3 ^ k1, p0 & mask
        k0, k1 = (k0 + 0x9E37_79B9) & mask, (k1 + 0xBB67_AE85) & mask
    return x0, x1, x2, x3


def uniform(path_key: int, position: int) -> float:
    """The number that draws the token at `position`."""
    w0, w1, _, _ = philox(path_key, (position, 0, 0, 0))
    return (((w1 << 32 | w0) >> 12) + 0.5) / 2.0**52


def gumbel_row(path_key: int, position: int, layer: int, route: int, experts: int) -> Tensor:
    """Standard Gumbel noise [E] of one route in one layer."""
    noise = []
    for e in range(experts):
        word = philox(path_key, (position, 1 | layer << 8, route, e // 4))[e % 4]
        noise.append(-math.log(-math.log((word + 0.5) / 2.0**32)))
    return torch.tensor(noise, dtype=torch.float32)


# --- Algorithm 2 ----------------------------------------------------------------------------------


def two_pass(rows: Tensor, noise: Tensor, used: int, variant: int) -> Tensor:
    """Second-pass scores [K, E] from router rows [K, E] and Gumbel noise [K, E] (row 0: zeros)."""
    first = rows + TAU * noise
    chosen = first.topk(used, dim=-1).indices
    sparse = torch.zeros_like(first).scatter(1, chosen, first.gather(1, chosen))
    if variant == 1:
        after = sparse[1:].flip(0).cumsum(0).flip(0) - sparse[1:]
        before = torch.cat((torch.zeros_like(sparse[:1]), sparse[:1] + after))
    else:
        before = sparse.cumsum(0) - sparse
    delta = torch.tanh(before)
    delta[0] = 0.0
    return first - LAMBDA * delta


# --- the model ------------------------------------------------------------------------------------


class Model:
    """Qwen3-MoE over a GGUF file, one position of K routes at a time."""

    def __init__(self, path: Path):
        reader = gguf.GGUFReader(path)

        def value(key: str) -> float:
            return reader.fields[key].contents()

        self.layers = int(value("qwen3moe.block_count"))
        self.heads = int(value("qwen3moe.attention.head_count"))
        self.kv_heads = int(value("qwen3moe.attention.head_count_kv"))
        self.head_width = int(value("qwen3moe.attention.key_length"))
        self.experts = int(value("qwen3moe.expert_count"))
        self.used = int(value("qwen3moe.expert_used_count"))
        self.epsilon = float(value("qwen3moe.attention.layer_norm_rms_epsilon"))
        base = float(value("qwen3moe.rope.freq_base"))
        exponents = torch.arange(0, self.head_width, 2, dtype=torch.float64) / self.head_width
        self.frequencies = base**-exponents
        self.weights = {
            tensor.name: torch.from_numpy(np.array(tensor.data, dtype=np.float32))
            for tensor in reader.tensors
        }

    def weight(self, layer: int, name: str) -> Tensor:
        return self.weights[f"blk.{layer}.{name}.weight"]

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.epsilon)

    def rotate(self, x: Tensor, position: int) -> Tensor:
        """Rotary embedding of x [..., head_width], halves as pairs."""
        angles = position * self.frequencies
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def attention(self, x: Tensor, layer: int, position: int, cache: list[tuple[Tensor, Tensor]]):
        """Each of K rows attends to the clean prefix in `cache` and to itself only."""
        rows = x.shape[0]
        h = self.norm(x, self.weight(layer, "attn_norm"))
        q = (h @ self.weight(layer, "attn_q").T).view(rows, self.heads, self.head_width)
        k = (h @ self.weight(layer, "attn_k").T).view(rows, self.kv_heads, self.head_width)
        v = (h @ self.weight(layer, "attn_v").T).view(rows, self.kv_heads, self.head_width)
        q = self.rotate(self.norm(q, self.weight(layer, "attn_q_norm")), position)
        k = self.rotate(self.norm(k, self.weight(layer, "attn_k_norm")), position)
        group = self.heads // self.kv_heads
        own_k, own_v = (t.repeat_interleave(group, 1) for t in (k, v))
        past_k, past_v = (t.repeat_interleave(group, 1) for t in cache[layer])  # [T, heads, width]
        scale = self.head_width**-0.5
        past = torch.einsum("khw,thw->kht", q, past_k) * scale
        own = (q * own_k).sum(-1, keepdim=True) * scale
        p = torch.cat((past, own), -1).softmax(-1)
        y = torch.einsum("kht,thw->khw", p[..., :-1], past_v) + p[..., -1:] * own_v
        # Clean Cache: route 0's keys and values are the only ones that stay.
        cache[layer] = (torch.cat((cache[layer][0], k[:1])), torch.cat((cache[layer][1], v[:1])))
        return x + y.reshape(rows, -1) @ self.weight(layer, "attn_output").T

    def experts_of(self, x: Tensor, layer: int, scores: Tensor) -> Tensor:
        """The MoE layer's output for rows x [K, D] routed by `scores` [K, E]."""
        probabilities = scores.softmax(-1)
        top, chosen = probabilities.topk(self.used, dim=-1)
        top = top / top.sum(-1, keepdim=True)
        gate, up, down = (self.weight(layer, f"ffn_{n}_exps") for n in ("gate", "up", "down"))
        out = torch.zeros_like(x)
        for row in range(x.shape[0]):
            for weight, expert in zip(top[row], chosen[row]):
                hidden = F.silu(gate[expert] @ x[row]) * (up[expert] @ x[row])
                out[row] += weight * (down[expert] @ hidden)
        return out

    def empty_cache(self) -> list[tuple[Tensor, Tensor]]:
        empty = torch.zeros(0, self.kv_heads, self.head_width)
        return [(empty, empty) for _ in range(self.layers)]

    def step(self, token: int, position: int, routes: int, variant: int, cache):
        """Logits [K, V] after `token` at `position`, and the second-pass scores [layers, K, E]."""
        x = self.weights["token_embd.weight"][token].expand(routes, -1)
        seen = []
        for layer in range(self.layers):
            x = self.attention(x, layer, position, cache)
            h = self.norm(x, self.weight(layer, "ffn_norm"))
            rows = h @ self.weight(layer, "ffn_gate_inp").T
            # Noise belongs to the token that is being chosen, one position on.
            noise = torch.zeros_like(rows)
            for k in range(1, routes):
                noise[k] = gumbel_row(PATH_KEY, position + 1, layer, k, self.experts)
            scores = two_pass(rows, noise, self.used, variant)
            seen.append(scores)
            x = x + self.experts_of(h, layer, scores)
        output = self.weights.get("output.weight", self.weights["token_embd.weight"])
        return self.norm(x, self.weights["output_norm.weight"]) @ output.T, torch.stack(seen)


# --- step 3: aggregation --------------------------------------------------------------------------


def aggregate(logits: Tensor) -> Tensor:
    """Confidence-weighted log-probabilities [V] out of the routes' logits [K, V]."""
    logprobs = logits.double().log_softmax(-1)
    # Alternatives: the k most probable tokens but the route's own first choice.
    rivals = logprobs.topk(CONFIDENCE_COUNT + 1, dim=-1).values[:, 1:]
    confidence = -rivals.clamp(min=LOGPROB_FLOOR).mean(-1)
    weights = confidence.softmax(0)
    return (weights[:, None] * logprobs).sum(0).log_softmax(-1)


def draw(logprobs: Tensor, u: float) -> int:
    """Inverse distribution function in token order, at TEMPERATURE."""
    p = (logprobs / TEMPERATURE).softmax(-1).cumsum(0)
    return min(int((p <= u * p[-1]).sum()), len(p) - 1)


# --- the file -------------------------------------------------------------------------------------


def encode_choices(scores: Tensor, used: int) -> list[int]:
    """One word per layer and route: bit mask of the experts, bit 31 for a narrow margin."""
    words = []
    for layer in scores:
        for row in layer:
            values, order = row.topk(used + 1)
            narrow = float(values[used - 1] - values[used]) <= MARGIN
            words.append(sum(1 << int(e) for e in order[:used]) | (int(narrow) << 31))
    return words


def run(
    model: Model, prompt: list[int], routes: int, most: int, end: int, variant: int = 0
) -> bytes:
    """Refines up to `most` tokens after `prompt`; the encoded run."""
    cache = model.empty_cache()
    for position, token in enumerate(prompt[:-1]):
        model.step(token, position, 1, 0, cache)
    tokens: list[int] = []
    rows = bytearray()
    last = prompt[-1]
    while len(tokens) < most and (not tokens or tokens[-1] != end):
        position = len(prompt) - 1 + len(tokens)
        logits, scores = model.step(last, position, routes, variant, cache)
        logprobs = aggregate(logits)
        steps = (-logprobs / STEP).round().clamp(0, 65535).numpy().astype("<u2")
        rows += steps.tobytes()
        rows += np.array(encode_choices(scores, model.used), dtype="<u4").tobytes()
        last = draw(logprobs, uniform(PATH_KEY, position + 1))
        tokens.append(last)
    head = struct.pack("<IIII", variant, routes, len(prompt), len(tokens))
    return head + np.array(prompt + tokens, dtype="<i4").tobytes() + bytes(rows)


def main() -> None:
    torch.set_num_threads(1)  # several wait for each other where the cores are busy
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="F16 GGUF of the bundled model")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    model = Model(arguments.model)
    # The template's tokens are special; the rest is byte-level BPE, which the tokenizers library
    # reads from the file beside the model.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(arguments.model.parent / "tokenizer.json"))
    end = tokenizer.token_to_id("<|im_end|>")
    prompts = [
        tokenizer.encode(
            f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n<think>\n"
        ).ids
        for question in QUESTIONS
    ]
    runs = [run(model, prompts[0], 4, 20, end, variant=1)]
    for routes in ROUTE_COUNTS:
        left = TOKENS_PER_COUNT
        for prompt in prompts:
            if left <= 0:
                break
            data = run(model, prompt, routes, left, end)
            left -= struct.unpack_from("<I", data, 12)[0]
            runs.append(data)
        if left > 0:
            raise SystemExit(f"too few tokens for K = {routes}: add questions")
    head = b"HYST" + struct.pack(
        "<IddQIIII",
        1,
        TAU,
        LAMBDA,
        PATH_KEY,
        model.layers,
        model.used,
        model.weights["token_embd.weight"].shape[0],
        len(runs),
    )
    arguments.output.write_bytes(head + b"".join(runs))


if __name__ == "__main__":
    main()
