"""Trains the model on the CPU for a number of tokens; can be killed and started again.

Matrices take Muon (orthogonalised momentum), the rest AdamW. The learning rate is flat, then falls
linearly to zero over the last tokens. Loss is taken on the solution only, never on the question.
STATE holds all that a run needs to go on: give the same command again.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

import data
from model import Config, TinyMoE

SHARD_DOCUMENTS = 8000
SAVE_INTERVAL_S = 240
WARMUP_STEPS = 60
ADAM_RATE = 3e-3
MUON_RATE = 0.02
MUON_DECAY = 0.02
MUON_MOMENTUM = 0.95
BALANCE_WEIGHT = 0.01
AVERAGE_DECAY = 0.995  # of the running average of the weights, per step
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


# (prompt, completion) of the document of a seed.
Text = Callable[[int], tuple[str, str]]


class Place(NamedTuple):
    """Where in the endless stream of batches a run is."""

    shard: int
    batch: int  # of the shard


def shard_groups(
    text: Text, tokenizer: Tokenizer, batch_tokens: int, shard: int
) -> list[list[tuple[list[int], int]]]:
    """The batches of a shard in their order; documents longer than the context are left out."""
    seeds = range(shard * SHARD_DOCUMENTS, (shard + 1) * SHARD_DOCUMENTS)
    documents = [text(seed) for seed in seeds]
    prompts = tokenizer.encode_batch([p for p, _ in documents], add_special_tokens=False)
    solutions = tokenizer.encode_batch([s for _, s in documents], add_special_tokens=False)
    rows = [(p.ids + s.ids, len(p.ids)) for p, s in zip(prompts, solutions)]
    fitting = [row for row in rows if len(row[0]) <= Config.context]
    groups = group_rows(sorted(fitting, key=lambda row: len(row[0])), batch_tokens)
    return [groups[index] for index in np.random.RandomState(shard).permutation(len(groups))]


def batches(
    text: Text, tokenizer: Tokenizer, batch_tokens: int, place: Place
) -> Iterator[tuple[Tensor, Tensor, Place]]:
    """Yields (ids [B, L], solution mask [B, L], next place) forever, similar lengths together."""
    while True:
        groups = shard_groups(text, tokenizer, batch_tokens, place.shard)
        while place.batch < len(groups):
            group = groups[place.batch]
            length = max(len(row) for row, _ in group)
            ids = torch.zeros(len(group), length, dtype=torch.long)
            mask = torch.zeros(len(group), length)
            for i, (row, prompt_length) in enumerate(group):
                ids[i, : len(row)] = torch.tensor(row)
                mask[i, prompt_length : len(row)] = 1
            place = Place(place.shard, place.batch + 1)
            yield ids, mask, place
        place = Place(place.shard + 1, 0)


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


def finished_weights(path: str) -> dict[str, Tensor]:
    """The averaged weights of a run's state, or a file of weights alone."""
    state = torch.load(path)
    return state.get("average", state)


class Run:
    """A training run: the model, its optimizer and how far it is."""

    def __init__(self, first_shard: int):
        self.model = TinyMoE(Config())
        self.optimizer = Optimizer(self.model)
        self.average = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.place = Place(first_shard, 0)
        self.step = 0
        self.tokens = 0
        self.loss: float | None = None

    def begin_from(self, weights: dict[str, Tensor]) -> None:
        """Takes the weights of a finished run."""
        self.model.load_state_dict(weights)
        self.average = {name: value.clone() for name, value in weights.items()}

    def load(self, path: str) -> None:
        """Goes on where save() left off."""
        state = torch.load(path)
        self.begin_from(state["average"])
        self.model.load_state_dict(state["weights"])
        self.optimizer.adam.load_state_dict(state["adam"])
        self.optimizer.momentum = state["momentum"]
        self.place = Place(*state["place"])
        self.step, self.tokens, self.loss = state["step"], state["tokens"], state["loss"]

    def save(self, path: str) -> None:
        """Replaces the file at once: a kill in between leaves the old one."""
        state = {
            "weights": self.model.state_dict(),
            "average": self.average,
            "adam": self.optimizer.adam.state_dict(),
            "momentum": self.optimizer.momentum,
            "place": tuple(self.place),
            "step": self.step,
            "tokens": self.tokens,
            "loss": self.loss,
        }
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)

    def update(self, ids: Tensor, mask: Tensor, scale: float) -> None:
        """One step on one batch, all rates times `scale`."""
        logits, balance = self.model(ids[:, :-1])
        loss = solution_loss(logits, ids, mask)
        (loss + BALANCE_WEIGHT * balance).backward()
        self.optimizer.step(scale)
        self.model.zero_grad(set_to_none=True)
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, 1 - AVERAGE_DECAY)
        self.step += 1
        self.tokens += ids.numel()
        self.loss = loss.item() if self.loss is None else 0.99 * self.loss + 0.01 * loss.item()


def rate_scale(step: int, tokens: int, arguments: argparse.Namespace) -> float:
    """What all learning rates are multiplied with: warm-up, flat, a fall to zero at the end."""
    left = (arguments.tokens - tokens) / arguments.fall
    return arguments.rate * min(1, (step + 1) / WARMUP_STEPS, max(0, left))


def train(run: Run, tokenizer: Tokenizer, arguments: argparse.Namespace) -> None:
    """Runs until the tokens are used up; leaves the state and the averaged weights."""
    start, saved, begun = time.time(), time.time(), run.tokens
    text = data.GENERATIONS[arguments.generation]
    for ids, mask, place in batches(text, tokenizer, arguments.batch_tokens, run.place):
        if run.tokens >= arguments.tokens:
            break
        run.update(ids, mask, rate_scale(run.step, run.tokens, arguments))
        run.place = place
        if run.step % 25 == 0:
            rate = (run.tokens - begun) / (time.time() - start)
            print(
                f"step {run.step} {run.tokens / 1e6:.2f}M tokens loss {run.loss:.4f} "
                f"shard {place.shard} {rate:.0f} tokens/s",
                flush=True,
            )
        if time.time() - saved > SAVE_INTERVAL_S:
            run.save(arguments.state)
            saved = time.time()
    run.save(arguments.state)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", help="file of the run: made, or gone on with")
    parser.add_argument("--begin", help="weights to begin a new run from")
    parser.add_argument("--generation", type=int, default=2, choices=sorted(data.GENERATIONS))
    parser.add_argument("--tokens", type=float, default=40e6, help="tokens of the whole run")
    parser.add_argument("--fall", type=float, default=10e6, help="last tokens, rates fall to zero")
    parser.add_argument("--rate", type=float, default=1, help="all learning rates times this")
    parser.add_argument("--first-shard", type=int, default=0, help="of 8000 documents each")
    parser.add_argument("--batch-tokens", type=int, default=12288)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    run = Run(arguments.first_shard)
    if os.path.exists(arguments.state):
        run.load(arguments.state)
    elif arguments.begin:
        run.begin_from(finished_weights(arguments.begin))
    train(run, Tokenizer.from_file(data.TOKENIZER_FILE), arguments)


if __name__ == "__main__":
    main()
