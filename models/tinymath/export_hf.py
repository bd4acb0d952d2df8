"""Writes a checkpoint of train.py as a Hugging Face model: python export_hf.py IN.pt OUT_DIR

Prints the largest difference of its logits from the training model's.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen3MoeConfig, Qwen3MoeForCausalLM

import data
from model import Config, TinyMoE
from train import finished_weights


def hf_config(config: Config) -> Qwen3MoeConfig:
    """The same sizes in transformers' words."""
    return Qwen3MoeConfig(
        vocab_size=config.vocabulary,
        hidden_size=config.width,
        intermediate_size=config.expert_width,
        moe_intermediate_size=config.expert_width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.kv_heads,
        head_dim=config.head_width,
        num_experts=config.experts,
        num_experts_per_tok=config.experts_per_token,
        norm_topk_prob=True,
        decoder_sparse_step=1,
        mlp_only_layers=[],
        rope_theta=config.rope_base,
        rms_norm_eps=config.norm_epsilon,
        max_position_embeddings=config.context,
        tie_word_embeddings=False,
        attention_bias=False,
        use_sliding_window=False,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=0,
        torch_dtype="float32",
    )


def expert_tensors(
    prefix: str, wi: Tensor, wo: Tensor, config: Config, names: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Expert weights in the layout of the installed transformers: stacked, or one by one."""
    stacked = prefix + "mlp.experts.gate_up_proj"
    if stacked in names:
        down = prefix + "mlp.experts.down_proj"
        output_first = names[stacked].shape[1] == 2 * config.expert_width
        down_output_first = names[down].shape[1] == config.width
        return {
            stacked: wi.mT.contiguous() if output_first else wi,
            down: wo.mT.contiguous() if down_output_first else wo,
        }
    tensors = {}
    for expert in range(config.experts):
        gate, up = wi[expert].T.split(config.expert_width, 0)
        name = f"{prefix}mlp.experts.{expert}."
        tensors |= {
            name + "gate_proj.weight": gate,
            name + "up_proj.weight": up,
            name + "down_proj.weight": wo[expert].T,
        }
    return tensors


def named_tensors(
    weights: dict[str, Tensor], config: Config, names: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Weights under transformers' names."""
    tensors = {
        "model.embed_tokens.weight": weights["emb.weight"],
        "model.norm.weight": weights["norm.weight"],
        "lm_head.weight": weights["head.weight"],
    }
    query_rows = config.heads * config.head_width
    key_rows = config.kv_heads * config.head_width
    for layer in range(config.layers):
        ours, theirs = f"blocks.{layer}.", f"model.layers.{layer}."
        q, k, v = weights[ours + "att.qkv.weight"].split((query_rows, key_rows, key_rows))
        tensors |= {
            theirs + "self_attn.q_proj.weight": q,
            theirs + "self_attn.k_proj.weight": k,
            theirs + "self_attn.v_proj.weight": v,
            theirs + "self_attn.o_proj.weight": weights[ours + "att.o.weight"],
            theirs + "self_attn.q_norm.weight": weights[ours + "att.qn.weight"],
            theirs + "self_attn.k_norm.weight": weights[ours + "att.kn.weight"],
            theirs + "input_layernorm.weight": weights[ours + "n1.weight"],
            theirs + "post_attention_layernorm.weight": weights[ours + "n2.weight"],
            theirs + "mlp.gate.weight": weights[ours + "moe.router.weight"],
        }
        wi, wo = weights[ours + "moe.wi"], weights[ours + "moe.wo"]
        tensors |= expert_tensors(theirs, wi, wo, config, names)
    return {name: tensor.clone().contiguous() for name, tensor in tensors.items()}


def largest_difference(
    exported: Qwen3MoeForCausalLM, weights: dict[str, Tensor], config: Config
) -> float:
    """Largest difference in a logit between the two models on random tokens."""
    trained = TinyMoE(config)
    trained.load_state_dict(weights)
    ids = torch.randint(5, 600, (2, 50))
    with torch.no_grad():
        return (trained(ids)[0] - exported(ids).logits).abs().max().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("out")
    arguments = parser.parse_args()
    config = Config()
    weights = finished_weights(arguments.checkpoint)
    model = Qwen3MoeForCausalLM(hf_config(config))
    model.load_state_dict(named_tensors(weights, config, model.state_dict()), strict=True)
    print("largest difference of a logit:", largest_difference(model, weights, config))
    model.save_pretrained(arguments.out)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=data.TOKENIZER_FILE, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = data.CHAT_TEMPLATE
    tokenizer.save_pretrained(arguments.out)


if __name__ == "__main__":
    main()
