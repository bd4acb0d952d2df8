"""Text of training document i, and the tokenizer (byte-level BPE, one token per digit).

python data.py    writes tokenizer.json
"""

from __future__ import annotations

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import problems
import searches

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
# The Qwen2 splitting rule, so that llama.cpp's "qwen2" pre-tokenizer applies.
SPLIT_RULE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
VOCABULARY_SIZE = 640
TOKENIZER_DOCUMENTS = 20_000
LASTING = 0.1  # of the calculations of the second generation's traces: wrong, and unnoticed
TOKENIZER_FILE = "tokenizer.json"
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


def text(seed: int) -> tuple[str, str]:
    """(prompt, completion) of a document of the first generation, its level drawn from the seed."""
    problem = problems.problem(seed)
    think, answer = problems.solution(seed, problem.solve)
    return problems.render(problem.question, think, answer)


def mixed_text(seed: int) -> tuple[str, str]:
    """(prompt, completion) of a document of the second generation: every other one is a search."""
    if seed % 2 == 1:
        problem = problems.problem(seed)
        think, answer = problems.solution(seed, problem.solve, compares=True, lasting=LASTING)
    else:
        problem = searches.problem(seed)
        think, answer = searches.solution(seed, problem.solve, lasting=LASTING)
    return problems.render(problem.question, think, answer)


GENERATIONS = {1: text, 2: mixed_text}


def train_tokenizer(path: str, vocabulary_size: int) -> Tokenizer:
    """Learns the merges from the first documents and saves the tokenizer to `path`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT_RULE), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    documents = ("".join(text(seed)) for seed in range(TOKENIZER_DOCUMENTS))
    tokenizer.train_from_iterator(documents, trainer)
    tokenizer.save(path)
    return tokenizer


if __name__ == "__main__":
    train_tokenizer(TOKENIZER_FILE, VOCABULARY_SIZE)
