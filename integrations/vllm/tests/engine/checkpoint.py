"""The bundled GGUF model as a Hugging Face checkpoint, in F32: python checkpoint.py GGUF OUT_DIR

The weights are the file's, so what vLLM computes can be compared with the oracle, which reads the
file too. Needs gguf, torch and safetensors.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import save_file

OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate_inp": "mlp.gate",
}
EXPERTS = {"ffn_gate_exps": "gate_proj", "ffn_up_exps": "up_proj", "ffn_down_exps": "down_proj"}


def tensors(reader: gguf.GGUFReader) -> dict[str, torch.Tensor]:
    """Weights under transformers' names."""
    named = {}
    for tensor in reader.tensors:
        value = torch.from_numpy(np.array(tensor.data, dtype=np.float32))
        if tensor.name in OUTER:
            named[OUTER[tensor.name]] = value
            continue
        _, layer, name, _ = tensor.name.split(".")
        prefix = f"model.layers.{layer}."
        if name in INNER:
            named[f"{prefix}{INNER[name]}.weight"] = value
        else:
            for expert, weight in enumerate(value):
                named[f"{prefix}mlp.experts.{expert}.{EXPERTS[name]}.weight"] = weight.clone()
    return named


def config(reader: gguf.GGUFReader, vocabulary: int) -> dict[str, object]:
    """The sizes in transformers' words."""

    def value(key: str) -> object:
        return reader.fields[f"qwen3moe.{key}"].contents()

    return {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "vocab_size": vocabulary,
        "hidden_size": value("embedding_length"),
        "intermediate_size": value("expert_feed_forward_length"),
        "moe_intermediate_size": value("expert_feed_forward_length"),
        "num_hidden_layers": value("block_count"),
        "num_attention_heads": value("attention.head_count"),
        "num_key_value_heads": value("attention.head_count_kv"),
        "head_dim": value("attention.key_length"),
        "num_experts": value("expert_count"),
        "num_experts_per_tok": value("expert_used_count"),
        "rope_theta": value("rope.freq_base"),
        "rms_norm_eps": value("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": value("context_length"),
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "hidden_act": "silu",
        "attention_bias": False,
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }


def write(source: Path, out: Path) -> None:
    reader = gguf.GGUFReader(source)
    weights = tensors(reader)
    out.mkdir(parents=True, exist_ok=True)
    vocabulary = weights["lm_head.weight"].shape[0]
    (out / "config.json").write_text(json.dumps(config(reader, vocabulary)), encoding="utf-8")
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    tokenizer = source.with_name("tokenizer.json").read_text(encoding="utf-8")
    (out / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    (out / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "<|im_end|>",
                "pad_token": "<|endoftext|>",
                "chat_template": reader.fields["tokenizer.chat_template"].contents(),
            }
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    write(arguments.gguf, arguments.out)
