"""Trains the model for a fixed time on the CPU; prints its loss, saves every five minutes.

Matrices take Muon (orthogonalised momentum), the rest AdamW; the learning rate is flat for the
first half of the time and falls linearly to zero over the second. Loss is taken on the solution
only, never on the question.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

import data
from model import Config, TinyMoE

SHARD_DOCUMENTS = 8000
SAVE_INTERVAL_S = 300
WARMUP_STEPS = 60
ADAM_RATE = 3e-3
MUON_RATE = 0.02
MUON_DECAY = 0.02
MUON_MOMENTUM = 0.95
BALANCE_WEIGHT = 0.01
# Quintic coefficients of the Newton-Schulz iteration, one triple per step.
NEWTON_SCHULZ = (
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
)


def orthogonalise(gradient: Tensor) -> Tensor:
    """Nearest semi-orthogonal matrix of each trailing matrix of gradient [..., m, n]."""
    x = gradient / (gradient.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.size(-2) > x.size(-1)
    if tall:
        x = x.mT
    for a, b, c in NEWTON_SCHULZ:
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x.mT if tall else x


def group_rows(
    rows: list[tuple[list[int], int]], batch_tokens: int
) -> list[list[tuple[list[int], int]]]:
    """Cuts rows (ids, prompt length), sorted by length, into groups of at most batch_tokens."""
    groups = []
    group: list[tuple[list[int], int]] = []
    longest = 0
    for row in rows:
        if group and max(longest, len(row[0])) * (len(group) + 1) > batch_tokens:
            groups.append(group)
            group, longest = [], 0
        group.append(row)
        longest = max(longest, len(row[0]))
    groups.append(group)
    return groups


def batches(tokenizer: Tokenizer, batch_tokens: int, shard: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields (ids [B, L], solution mask [B, L]) forever, similar lengths together."""
    while True:
        seeds = range(shard * SHARD_DOCUMENTS, (shard + 1) * SHARD_DOCUMENTS)
        documents = [data.text(seed) for seed in seeds]
        shard += 1
        prompts = tokenizer.encode_batch([p for p, _ in documents], add_special_tokens=False)
        solutions = tokenizer.encode_batch([s for _, s in documents], add_special_tokens=False)
        rows = [(p.ids + s.ids, len(p.ids)) for p, s in zip(prompts, solutions)]
        groups = group_rows(sorted(rows, key=lambda row: len(row[0])), batch_tokens)
        for index in np.random.RandomState(shard).permutation(len(groups)):
            group = groups[index]
            length = max(len(row) for row, _ in group)
            ids = torch.zeros(len(group), length, dtype=torch.long)
            mask = torch.zeros(len(group), length)
            for i, (row, prompt_length) in enumerate(group):
                ids[i, : len(row)] = torch.tensor(row)
                mask[i, prompt_length : len(row)] = 1
            yield ids, mask


def solution_loss(logits: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
    """Mean next-token loss in nats over the masked positions."""
    targets, weights = ids[:, 1:].flatten(), mask[:, 1:].flatten()
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets, reduction="none")
    return (losses * weights).sum() / weights.sum()


class Optimizer:
    """Muon on the matrices of the layers, AdamW on embeddings, head, router and norms."""

    def __init__(self, model: TinyMoE):
        self.matrices = [
            parameter
            for name, parameter in model.named_parameters()
            if parameter.ndim >= 2 and not any(key in name for key in ("emb", "head", "router"))
        ]
        chosen = {id(parameter) for parameter in self.matrices}
        self.rest = [p for p in model.parameters() if id(p) not in chosen]
        self.adam = torch.optim.AdamW(self.rest, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.0)
        self.momentum = [torch.zeros_like(parameter) for parameter in self.matrices]

    def step(self, scale: float) -> None:
        """One update with all rates times `scale`."""
        torch.nn.utils.clip_grad_norm_(self.rest, 1.0)
        with torch.no_grad():
            for parameter, momentum in zip(self.matrices, self.momentum):
                gradient = parameter.grad
                momentum.mul_(MUON_MOMENTUM).add_(gradient)
                update = orthogonalise(gradient.add(momentum, alpha=MUON_MOMENTUM))
                shape_scale = max(1, parameter.size(-2) / parameter.size(-1)) ** 0.5
                parameter.mul_(1 - MUON_RATE * scale * MUON_DECAY)
                parameter.add_(update, alpha=-MUON_RATE * scale * shape_scale)
        for group in self.adam.param_groups:
            group["lr"] = ADAM_RATE * scale
        self.adam.step()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="checkpoint to write")
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--resume", help="checkpoint to begin from")
    parser.add_argument("--first-shard", type=int, default=0, help="of 8000 documents each")
    parser.add_argument("--batch-tokens", type=int, default=12288)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def train(model: TinyMoE, tokenizer: Tokenizer, arguments: argparse.Namespace) -> None:
    """Runs until the time is up; leaves the last weights in the file."""
    optimizer = Optimizer(model)
    start = time.time()
    saved, tokens, mean_loss = 0.0, 0, None
    stream = batches(tokenizer, arguments.batch_tokens, arguments.first_shard)
    for step, (ids, mask) in enumerate(stream, start=1):
        done = (time.time() - start) / 60 / arguments.minutes
        if done >= 1:
            break
        logits, balance = model(ids[:, :-1])
        loss = solution_loss(logits, ids, mask)
        (loss + BALANCE_WEIGHT * balance).backward()
        optimizer.step(min(1, step / WARMUP_STEPS) * (1 if done < 0.5 else (1 - done) / 0.5))
        model.zero_grad(set_to_none=True)
        tokens += ids.numel()
        mean_loss = loss.item() if mean_loss is None else 0.98 * mean_loss + 0.02 * loss.item()
        if step % 25 == 0:
            rate = tokens / (time.time() - start)
            print(
                f"step {step} {tokens / 1e6:.1f}M tokens {done:.0%} "
                f"loss {mean_loss:.4f} {rate:.0f} tokens/s",
                flush=True,
            )
        if time.time() - saved > SAVE_INTERVAL_S:
            torch.save(model.state_dict(), arguments.out)
            saved = time.time()
    torch.save(model.state_dict(), arguments.out)


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    model = TinyMoE(Config())
    if arguments.resume:
        model.load_state_dict(torch.load(arguments.resume))
    train(model, Tokenizer.from_file(data.TOKENIZER_FILE), arguments)


if __name__ == "__main__":
    main()
