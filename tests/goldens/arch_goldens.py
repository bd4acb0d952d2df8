"""Builds the architectures of the paper small, with random weights, and stores what they compute.

The oracle of src/engine/llama/architectures_test.cc: Hugging Face transformers computes the logits,
llama.cpp's own converter writes the same weights as GGUF (F32). Refined tokens (Sec. 3.2) are
computed by putting the noise and the penalty into the router's logits with a hook, one route after
the other over the whole sequence, so that Clean Cache holds by construction. RoE's tokens (clean
weights, no penalty, mean of the routes' probabilities) leave the logits as they are: the hook puts the
experts that the noise has chosen into the model's own choice.

    pip install torch transformers numpy
    LLAMA_SOURCE=.deps/llama/src python tests/goldens/arch_goldens.py tests/goldens/arch

For each architecture NAME.gguf and NAME.bin. The latter, little endian: "HYAG", u32 version, f64 tau,
f64 lambda, u64 path key, u32 vocabulary, u32 length, i32 token[length], u32 runs; for each run u32 K,
u32 whether as RoE, u32 first, u32 count, and for each length n in [first, first + count) f32
[vocabulary]: the values for the token behind the first n tokens. K = 1: logits. K > 1:
log-probabilities of the refined token.
Every expert choice in them has a margin of at least MARGIN, so that rounding cannot change it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

# The converter needs the gguf package of its own tree, before any other is imported.
LLAMA_SOURCE = Path(os.environ["LLAMA_SOURCE"]).resolve()
sys.path[1:1] = [str(LLAMA_SOURCE / "gguf-py"), str(LLAMA_SOURCE)]

from single_token_goldens import LAMBDA, PATH_KEY, TAU, aggregate, gumbel_row
from torch import Tensor

LENGTH = 24
FIRST = 14
MARGIN = 3e-5
ROUTE_COUNTS = (2, 4, 8)
ROE_COUNTS = (4,)
REFINED = 3  # positions refined for each K
MERGES = ("t h", "h e", "i n", "th e")
SPECIAL = ("<|im_start|>", "<|im_end|>", "<think>", "</think>")
VOCABULARY = 272

COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "bos_token_id": None,
    "eos_token_id": 261,
    "pad_token_id": None,
}
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
ARCHITECTURES = {
    "qwen3": ("Qwen3", {"num_hidden_layers": 3, "intermediate_size": 64, "head_dim": 8}),
    "qwen3moe": (
        "Qwen3Moe",
        {"num_hidden_layers": 3, "intermediate_size": 64, "head_dim": 8, "norm_topk_prob": True}
        | EXPERTS,
    ),
    "olmoe": (
        "Olmoe",
        {
            "num_hidden_layers": 3,
            "num_key_value_heads": 4,  # each query head has its own
            "intermediate_size": 16,
            "num_experts": 8,
            "num_experts_per_tok": 3,
            "norm_topk_prob": False,
            "rms_norm_eps": 1e-5,
        },
    ),
    # llama.cpp knows the Lite model by its 27 layers.
    "deepseek2": (
        "DeepseekV2",
        {
            "num_hidden_layers": 27,
            "intermediate_size": 32,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "q_lora_rank": None,
            "kv_lora_rank": 16,
            "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 8,
            "v_head_dim": 8,
            "n_routed_experts": 6,
            "num_experts_per_tok": 2,
            "n_shared_experts": 1,
            "moe_intermediate_size": 8,
            "first_k_dense_replace": 1,
            "topk_method": "greedy",
            "n_group": 1,
            "topk_group": 1,
            "norm_topk_prob": False,
            "routed_scaling_factor": 1.0,
        },
    ),
    "qwen3next": (
        "Qwen3Next",
        {
            "num_hidden_layers": 4,
            "intermediate_size": 32,
            "head_dim": 16,
            "norm_topk_prob": True,
            "shared_expert_intermediate_size": 16,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
            "linear_conv_kernel_dim": 4,
            "decoder_sparse_step": 1,
        }
        | EXPERTS,
    ),
}


def write_tokenizer(folder: Path) -> None:
    """Byte-level BPE with four merges and the special tokens of a chat model."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = letters + [merge.replace(" ", "") for merge in MERGES]
    merges = [tuple(merge.split()) for merge in MERGES]
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "chat_template": template,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def randomise(model: torch.nn.Module, seed: int) -> None:
    """Weights of useful size: outputs of every layer vary with the input and among experts."""
    generator = torch.Generator().manual_seed(seed)

    def normal(shape) -> Tensor:
        return torch.randn(shape, generator=generator)

    for name, weight in model.named_parameters():
        if name.endswith("A_log"):
            value = normal(weight.shape).abs().log()
        elif name.endswith("dt_bias"):
            value = normal(weight.shape)
        elif weight.dim() == 1:
            centred = torch.zeros_like(weight) if bool((weight == 0).all()) else torch.ones_like(weight)
            value = centred + 0.2 * normal(weight.shape)
        elif "embed_tokens" in name:
            value = normal(weight.shape)
        else:
            value = normal(weight.shape) * weight.shape[-1] ** -0.5
            if ".gate.weight" in name or "lm_head" in name:
                value *= 2.0
        # bfloat16 values: the file compresses to half its size.
        weight.data.copy_(value.bfloat16().float())


class Router:
    """Stands between a model's routers and what follows them."""

    def __init__(self, model: torch.nn.Module):
        self.layers: dict[int, int] = {}
        self.used = getattr(model.config, "num_experts_per_tok", 0)
        for name, weight in model.named_parameters():
            if name.endswith("mlp.gate.weight"):
                self.layers[weight.data_ptr()] = int(name.split(".layers.")[1].split(".")[0])
        self.route = 0
        self.position = 0
        self.roe = False
        self.forced: Tensor | None = None  # experts that the next choice must take in its last row
        self.before: dict[int, Tensor] = {}
        self.margin = float("inf")

    def begin(self, position: int, roe: bool) -> None:
        self.position = position
        self.roe = roe
        self.before = {}

    def apply(self, layer: int, logits: Tensor) -> Tensor:
        """The last row gets the noise of its route and the penalty of the routes before it."""
        row = logits[-1]
        if self.route > 0:
            experts = row.shape[-1]
            row = row + TAU * gumbel_row(PATH_KEY, self.position, layer, self.route, experts)
        chosen = row.topk(self.used).indices
        if self.roe:
            self.note_margin(row)
            self.forced = chosen
            return logits
        sparse = torch.zeros_like(row).scatter(0, chosen, row[chosen])
        before = self.before.get(layer, torch.zeros_like(row))
        self.note_margin(row)
        if self.route > 0:
            row = row - LAMBDA * torch.tanh(before)
            self.note_margin(row)
        self.before[layer] = before + sparse
        return torch.cat((logits[:-1], row[None]))

    def note_margin(self, row: Tensor) -> None:
        values = row.topk(self.used + 1).values
        self.margin = min(self.margin, float(values[-2] - values[-1]))

    @contextlib.contextmanager
    def active(self):
        linear, topk = torch.nn.functional.linear, torch.topk

        def choose(scores: Tensor, *arguments, **options):
            values, indices = topk(scores, *arguments, **options)
            if self.forced is not None:
                indices[-1] = self.forced
                values[-1] = scores[-1, self.forced]
                self.forced = None
            return values, indices

        def routed(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
            out = linear(inputs, weight, bias)
            layer = self.layers.get(weight.data_ptr())
            return out if layer is None else self.apply(layer, out)

        torch.nn.functional.linear, torch.topk = routed, choose
        try:
            yield
        finally:
            torch.nn.functional.linear, torch.topk = linear, topk


def logits_after(
    model, router: Router, tokens: list[int], routes: int, roe: bool = False
) -> Tensor:
    """Logits [K, V] of the token behind `tokens`, one row for each route."""
    router.begin(len(tokens), roe)
    rows = []
    with router.active():
        for router.route in range(routes):
            rows.append(model(torch.tensor([tokens]), use_cache=False).logits[0, -1])
    return torch.stack(rows)


def mean(rows: Tensor) -> Tensor:
    """Log of the mean of the routes' probabilities."""
    return rows.softmax(dim=-1).mean(dim=0).log()


def golden(model, tokens: list[int]) -> tuple[bytes, float]:
    """The encoded file of a model, and the narrowest margin of an expert choice in it."""
    router = Router(model)
    expected = getattr(model.config, "num_hidden_layers", 0) if router.used else 0
    if router.layers and len(router.layers) < expected - 1:
        raise SystemExit("a router was not found")
    runs = [(1, False, FIRST, LENGTH - FIRST)]
    if router.layers:
        runs += [(routes, False, FIRST + i, REFINED) for i, routes in enumerate(ROUTE_COUNTS)]
        runs += [(routes, True, FIRST, REFINED) for routes in ROE_COUNTS]
    out = bytearray(
        struct.pack("<4sIddQII", b"HYAG", 2, TAU, LAMBDA, PATH_KEY, VOCABULARY, len(tokens))
    )
    out += np.array(tokens, dtype="<i4").tobytes() + struct.pack("<I", len(runs))
    for routes, roe, first, count in runs:
        out += struct.pack("<IIII", routes, roe, first, count)
        for length in range(first, first + count):
            rows = logits_after(model, router, tokens[:length], routes, roe)
            values = rows[0] if routes == 1 else mean(rows) if roe else aggregate(rows)
            out += values.float().numpy().astype("<f4").tobytes()
    return bytes(out), router.margin


def convert(folder: Path, output: Path) -> None:
    """The checkpoint in `folder` as F32 GGUF, by llama.cpp's converter."""
    import gguf
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class

    parameters = ModelBase.load_hparams(folder, False)
    base = get_model_class(get_model_architecture(parameters, ModelType.TEXT))
    # The converter knows tokenizers by a hash; this one splits as Qwen2's.
    members = {
        "model_arch": base.model_arch,
        "get_vocab_base_pre": lambda self, tokenizer: "qwen2",
        "no_mtp": True,  # no layers that predict further tokens
    }
    small = type(base.__name__, (base,), members)
    with torch.inference_mode():
        small(folder, gguf.LlamaFileType.ALL_F32, output, model_name=output.stem).write()


def build(name: str, output: Path) -> None:
    kind, settings = ARCHITECTURES[name]
    config = getattr(transformers, kind + "Config")(**(COMMON | settings))
    config.architectures = [kind + "ForCausalLM"]
    model = getattr(transformers, kind + "ForCausalLM")._from_config(
        config, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager"
    )
    model.eval()
    for seed in range(1, 200):
        randomise(model, seed)
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.randint(0, 256, (LENGTH,), generator=generator).tolist()
        data, margin = golden(model, tokens)
        if margin >= MARGIN:
            break
    else:
        raise SystemExit(f"{name}: no seed keeps the margin")
    print(f"{name}: seed {seed}, margin {margin:.1e}")
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        write_tokenizer(Path(folder))
        convert(Path(folder), output / f"{name}.gguf")
    (output / f"{name}.bin").write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", choices=ARCHITECTURES, action="append")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.only or ARCHITECTURES:
        build(name, arguments.output)


if __name__ == "__main__":
    main()
