#!/usr/bin/env python3
"""Writes a GGUF file that has the header of a large model and no weights, for `hyper run --plan`.

  bench/shape_gguf.py qwen3-30b-a3b shape.gguf && build/hyper run --plan --model shape.gguf

The file is sparse: it takes some kilobytes of the disk, whatever its length. Matrices are Q4_K, so
the weights weigh what a Q4_K_S file does; norms and routers are F32. Needs Python 3 only.
"""
import struct
import sys

F32, Q4_K = 0, 12
BLOCK = {F32: (1, 4), Q4_K: (256, 144)}  # elements, bytes
ALIGNMENT = 32

SHAPES = {
    "qwen3-30b-a3b": {
        "architecture": "qwen3moe", "layers": 48, "width": 2048, "heads": 32, "kv_heads": 4,
        "head": 128, "expert_width": 768, "experts": 128, "used": 8, "vocabulary": 151936,
        "context": 40960, "norm": 128, "rope": 1e6},
    "olmoe-1b-7b": {
        "architecture": "olmoe", "layers": 16, "width": 2048, "heads": 16, "kv_heads": 16,
        "head": 128, "expert_width": 1024, "experts": 64, "used": 8, "vocabulary": 50304,
        "context": 4096, "norm": 2048, "rope": 1e4},
}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", 6, value)
    return text(key) + struct.pack("<II", 4, value)


def metadata(name, shape):
    arch = shape["architecture"]
    pairs = {
        "general.architecture": arch,
        "general.name": name + " (shape only)",
        arch + ".block_count": shape["layers"],
        arch + ".context_length": shape["context"],
        arch + ".embedding_length": shape["width"],
        arch + ".feed_forward_length": shape["expert_width"],
        arch + ".expert_feed_forward_length": shape["expert_width"],
        arch + ".expert_count": shape["experts"],
        arch + ".expert_used_count": shape["used"],
        arch + ".attention.head_count": shape["heads"],
        arch + ".attention.head_count_kv": shape["kv_heads"],
        arch + ".attention.key_length": shape["head"],
        arch + ".attention.value_length": shape["head"],
        arch + ".attention.layer_norm_rms_epsilon": 1e-6,
        arch + ".rope.freq_base": shape["rope"],
        arch + ".vocab_size": shape["vocabulary"],
        "tokenizer.ggml.model": "none",
    }
    return len(pairs), b"".join(pair(key, value) for key, value in pairs.items())


def tensors(shape):
    width, head = shape["width"], shape["head"]
    queries, keys = shape["heads"] * head, shape["kv_heads"] * head
    experts, inner = shape["experts"], shape["expert_width"]
    yield "token_embd.weight", (width, shape["vocabulary"]), Q4_K
    yield "output_norm.weight", (width,), F32
    yield "output.weight", (width, shape["vocabulary"]), Q4_K
    for layer in range(shape["layers"]):
        block = f"blk.{layer}."
        yield block + "attn_norm.weight", (width,), F32
        yield block + "attn_q.weight", (width, queries), Q4_K
        yield block + "attn_k.weight", (width, keys), Q4_K
        yield block + "attn_v.weight", (width, keys), Q4_K
        yield block + "attn_output.weight", (queries, width), Q4_K
        yield block + "attn_q_norm.weight", (shape["norm"],), F32
        yield block + "attn_k_norm.weight", (shape["norm"],), F32
        yield block + "ffn_norm.weight", (width,), F32
        yield block + "ffn_gate_inp.weight", (width, experts), F32
        yield block + "ffn_gate_exps.weight", (width, inner, experts), Q4_K
        yield block + "ffn_down_exps.weight", (inner, width, experts), Q4_K
        yield block + "ffn_up_exps.weight", (width, inner, experts), Q4_K


def padded(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit(f"usage: shape_gguf.py {'|'.join(SHAPES)} OUTPUT.gguf")
    name, output = sys.argv[1:]
    count, pairs = metadata(name, SHAPES[name])
    infos, offset = [], 0
    for tensor, dimensions, kind in tensors(SHAPES[name]):
        elements, size = BLOCK[kind]
        bytes_ = size
        for dimension in dimensions:
            bytes_ *= dimension
        bytes_ //= elements
        infos.append(text(tensor) + struct.pack("<I", len(dimensions)) +
                     struct.pack(f"<{len(dimensions)}Q", *dimensions) +
                     struct.pack("<IQ", kind, offset))
        offset += padded(bytes_)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(infos), count) + pairs + b"".join(infos)
    with open(output, "wb") as file:
        file.write(header)
        file.truncate(padded(len(header)) + offset)


if __name__ == "__main__":
    main()
