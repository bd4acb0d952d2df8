"""Writes a state of train.py as GGUF: python export_gguf.py STATE.pt OUT.gguf [F16|F32|Q8_0]"""

from __future__ import annotations

import argparse
import json

import gguf
import numpy as np
import torch
from torch import Tensor

import data
from model import Config
from train import finished_weights

FILE_TYPES = {
    "F16": gguf.LlamaFileType.MOSTLY_F16,
    "F32": gguf.LlamaFileType.ALL_F32,
    "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
}


def add_sizes(writer: gguf.GGUFWriter, config: Config) -> None:
    """The architecture's keys."""
    writer.add_block_count(config.layers)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.width)
    writer.add_feed_forward_length(config.expert_width)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_width)
    writer.add_value_length(config.head_width)
    writer.add_rope_freq_base(config.rope_base)
    writer.add_layer_norm_rms_eps(config.norm_epsilon)
    writer.add_expert_count(config.experts)
    writer.add_expert_used_count(config.experts_per_token)
    writer.add_expert_feed_forward_length(config.expert_width)


def token_type(token: int, special: dict[int, str]) -> gguf.TokenType:
    """Thinking tags are user-defined, so that they render as text."""
    if token not in special:
        return gguf.TokenType.NORMAL
    if special[token].endswith("think>"):
        return gguf.TokenType.USER_DEFINED
    return gguf.TokenType.CONTROL


def add_tokenizer(writer: gguf.GGUFWriter, vocabulary_size: int) -> None:
    """The tokenizer and the chat template."""
    with open(data.TOKENIZER_FILE, encoding="utf-8") as file:
        tokenizer = json.load(file)
    by_id = {index: text for text, index in tokenizer["model"]["vocab"].items()}
    special = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    ids = range(vocabulary_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([by_id.get(i, special.get(i)) for i in ids])
    writer.add_token_types([token_type(i, special) for i in ids])
    merges = tokenizer["model"]["merges"]
    writer.add_token_merges([" ".join(m) if isinstance(m, list) else m for m in merges])
    special_ids = {text: index for index, text in special.items()}
    writer.add_eos_token_id(special_ids["<|im_end|>"])
    writer.add_pad_token_id(special_ids["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(data.CHAT_TEMPLATE)


def add_tensor(writer: gguf.GGUFWriter, name: str, tensor: Tensor, file_type: str) -> None:
    """One tensor; norms and the router stay F32 in every type."""
    array = tensor.float().contiguous().numpy()
    if array.ndim == 1 or name.endswith("gate_inp.weight") or file_type == "F32":
        writer.add_tensor(name, array.astype(np.float32))
    elif file_type == "Q8_0":
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(array, kind), raw_dtype=kind)
    else:
        writer.add_tensor(name, array.astype(np.float16))


def named_tensors(weights: dict[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Weights under GGUF's names, in file order."""
    tensors = {
        "token_embd.weight": weights["emb.weight"],
        "output_norm.weight": weights["norm.weight"],
        "output.weight": weights["head.weight"],
    }
    query_rows = config.heads * config.head_width
    key_rows = config.kv_heads * config.head_width
    for layer in range(config.layers):
        ours, theirs = f"blocks.{layer}.", f"blk.{layer}."
        q, k, v = weights[ours + "att.qkv.weight"].split((query_rows, key_rows, key_rows))
        gate, up = weights[ours + "moe.wi"].mT.split(config.expert_width, 1)
        tensors |= {
            theirs + "attn_q.weight": q,
            theirs + "attn_k.weight": k,
            theirs + "attn_v.weight": v,
            theirs + "attn_output.weight": weights[ours + "att.o.weight"],
            theirs + "attn_q_norm.weight": weights[ours + "att.qn.weight"],
            theirs + "attn_k_norm.weight": weights[ours + "att.kn.weight"],
            theirs + "attn_norm.weight": weights[ours + "n1.weight"],
            theirs + "ffn_norm.weight": weights[ours + "n2.weight"],
            theirs + "ffn_gate_inp.weight": weights[ours + "moe.router.weight"],
            theirs + "ffn_gate_exps.weight": gate,
            theirs + "ffn_up_exps.weight": up,
            theirs + "ffn_down_exps.weight": weights[ours + "moe.wo"].mT,
        }
    return tensors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("out")
    parser.add_argument("type", nargs="?", default="F16", choices=sorted(FILE_TYPES))
    arguments = parser.parse_args()
    config = Config()
    writer = gguf.GGUFWriter(arguments.out, "qwen3moe")
    writer.add_name("HyPER tiny MoE")
    writer.add_description("Small Qwen3-MoE trained on synthetic arithmetic reasoning")
    add_sizes(writer, config)
    writer.add_file_type(FILE_TYPES[arguments.type])
    add_tokenizer(writer, config.vocabulary)
    for name, tensor in named_tensors(finished_weights(arguments.checkpoint), config).items():
        add_tensor(writer, name, tensor, arguments.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
