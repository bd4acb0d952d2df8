#!/usr/bin/env python3
"""Writes a GGUF file that has the header of a large model and no weights, for `hyper run --plan`.

  bench/shape_gguf.py qwen3-30b-a3b shape.gguf
  build/hyper run --plan --preset paper --model shape.gguf   # preset auto would load and time it

The file is sparse: it takes some kilobytes of the disk, whatever its length. Matrices are Q4_K, so
the weights weigh what a Q4_K_S file does; norms and routers are F32. Needs Python 3 only.

With --random the file has random weights and a vocabulary of bytes and numbered tokens: a model
that runs at the speed of the real one and says nothing. --weights chooses Q4_0 (the default) or
Q4_K. --tokenizer takes the tokenizer of another GGUF file, with unused tokens up to the size of the
vocabulary.

  bench/shape_gguf.py --random olmoe-1b-7b random.gguf && build/hyper run --model random.gguf hello
  bench/shape_gguf.py --random --weights q4_K --tokenizer models/tinymath/tinymath-moe-6m-f16.gguf \
      olmoe-1b-7b random.gguf && build/hyper bench --model random.gguf --width 64
"""
import argparse
import random
import struct

F32, Q4_0, Q4_K = 0, 2, 12
BLOCK = {F32: (1, 4), Q4_0: (32, 18), Q4_K: (256, 144)}  # elements, bytes
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
    # That of the bundled model, with a longer context and room for its tokenizer.
    "tinymath-4k": {
        "architecture": "qwen3moe", "layers": 6, "width": 192, "heads": 6, "kv_heads": 2,
        "head": 32, "expert_width": 96, "experts": 16, "used": 4, "vocabulary": 640,
        "context": 4096, "norm": 32, "rope": 1e4},
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


def array(key, kind, values, pack):
    return text(key) + struct.pack("<IIQ", 9, kind, len(values)) + b"".join(map(pack, values))


def vocabulary(size):
    """Keys of a SentencePiece vocabulary: three control tokens, the bytes, and numbered words."""
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += [f"\u2581w{i}" for i in range(size - len(tokens))]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (size - 259)
    pairs = [pair("tokenizer.ggml.model", "llama"),
             array("tokenizer.ggml.tokens", 8, tokens, text),
             array("tokenizer.ggml.scores", 6, [0.0] * size, lambda score: struct.pack("<f", score)),
             array("tokenizer.ggml.token_type", 5, kinds, lambda kind: struct.pack("<i", kind)),
             pair("tokenizer.ggml.bos_token_id", 1), pair("tokenizer.ggml.eos_token_id", 2)]
    return len(pairs), b"".join(pairs)


SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # sizes
STRING, ARRAY, UNUSED = 8, 9, 5


class Reader:
    """The keys of a GGUF file, one after another."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 4
        _, _, self.keys = self.take("<IQQ")

    def take(self, layout):
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def text(self):
        size, = self.take("<Q")
        self.at += size
        return self.data[self.at - size:self.at]

    def skip(self, kind):
        if kind == STRING:
            self.text()
        else:
            self.at += SCALARS[kind]

    def pairs(self):
        """For each key: its name, its bytes; of an array also where its length is, and its kind."""
        for _ in range(self.keys):
            begin = self.at
            name = self.text().decode()
            kind, = self.take("<I")
            length_at = None
            if kind == ARRAY:
                kind, = self.take("<I")
                length_at = self.at - begin
                count, = self.take("<Q")
                for _ in range(count):
                    self.skip(kind)
            else:
                self.skip(kind)
            yield name, self.data[begin:self.at], length_at


def tokenizer_of(path, size):
    """The keys of another file's tokenizer, its vocabulary filled up with unused tokens."""
    more = {
        "tokenizer.ggml.tokens": lambda i: text(f"<unused{i}>"),
        "tokenizer.ggml.scores": lambda i: struct.pack("<f", 0),
        "tokenizer.ggml.token_type": lambda i: struct.pack("<i", UNUSED),
    }
    out = []
    for name, data, length_at in Reader(path).pairs():
        if not name.startswith("tokenizer."):
            continue
        if name in more:
            count, = struct.unpack_from("<Q", data, length_at)
            if count > size:
                raise SystemExit(f"{path} has {count} tokens, the shape has {size}")
            data = (data[:length_at] + struct.pack("<Q", size) + data[length_at + 8:] +
                    b"".join(map(more[name], range(count, size))))
        out.append(data)
    return len(out), b"".join(out)


def metadata(name, shape, with_weights, tokenizer):
    arch = shape["architecture"]
    pairs = {
        "general.architecture": arch,
        "general.name": name + (" (random weights)" if with_weights else " (shape only)"),
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
    }
    if tokenizer:
        count, tokens = tokenizer_of(tokenizer, shape["vocabulary"])
    elif with_weights:
        count, tokens = vocabulary(shape["vocabulary"])
    else:
        count, tokens = 1, pair("tokenizer.ggml.model", "none")
    return (len(pairs) + count,
            b"".join(pair(key, value) for key, value in pairs.items()) + tokens)


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


def write_weights(file, kind, count):
    """Matrices of small random numbers, norms of ones."""
    if kind == F32:
        file.write(struct.pack("<f", 1.0) * count)
        return
    blocks = 1 << 14
    elements, size = BLOCK[kind]
    # Q4_K has 6 bits each for a scale and a minimum of 32 numbers. Half of the blocks are negated, or
    # all weights together would lean to one side, and all tokens to the same experts.
    scales = (0.004,) if kind == Q4_0 else (0.00015, 0.0011)
    heads = [struct.pack(f"<{len(scales)}e", *(sign * scale for scale in scales)) for sign in (1, -1)]
    some = b"".join(random.choice(heads) + random.randbytes(size - 2 * len(scales))
                    for _ in range(blocks))
    left = count // elements * size
    while left > 0:
        file.write(some[:left])
        left -= len(some)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", action="store_true", help="with random weights")
    parser.add_argument("--weights", choices=("q4_0", "q4_K"), default="q4_0", help="of --random")
    parser.add_argument("--tokenizer", metavar="GGUF", help="another file's tokenizer, for --random")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("output")
    args = parser.parse_args()
    random.seed(1)
    count, pairs = metadata(args.shape, SHAPES[args.shape], args.random,
                            args.tokenizer if args.random else None)
    infos, offset, contents = [], 0, []
    for tensor, dimensions, kind in tensors(SHAPES[args.shape]):
        if args.random and args.weights == "q4_0" and kind == Q4_K:
            kind = Q4_0
        elements, size = BLOCK[kind]
        weights = 1
        for dimension in dimensions:
            weights *= dimension
        infos.append(text(tensor) + struct.pack("<I", len(dimensions)) +
                     struct.pack(f"<{len(dimensions)}Q", *dimensions) +
                     struct.pack("<IQ", kind, offset))
        contents.append((offset, kind, weights, tensor))
        offset += padded(weights * size // elements)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(infos), count) + pairs + b"".join(infos)
    with open(args.output, "wb") as file:
        file.write(header)
        for begin, kind, weights, tensor in contents if args.random else []:
            file.seek(padded(len(header)) + begin)
            if tensor.endswith("ffn_gate_inp.weight"):
                file.write(struct.pack(f"<{weights}f",
                                       *(random.gauss(0, 0.02) for _ in range(weights))))
            else:
                write_weights(file, kind, weights)
        file.truncate(padded(len(header)) + offset)


if __name__ == "__main__":
    main()
