"""The tensors of one forward's plan, and where the layers find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from vllm_hyper.aggregate import aggregate
from vllm_hyper.philox import halves
from vllm_hyper.plan import Group, Plan
from vllm_hyper.routing import gumbel_noise, two_pass


@dataclass(frozen=True)
class MoeLayers:
    """The model's MoE layers in order."""

    numbers: tuple[int, ...]  # among all layers; the noise depends on them
    experts: int
    used: tuple[int, ...]  # experts per token


@dataclass(frozen=True)
class _Pooled:
    """Groups whose distributions are aggregated by the same rule."""

    rule: str
    count: int
    alternatives: bool
    rows: Tensor  # [G, K] of the logits
    alive: Tensor  # [G, K]
    temperature: Tensor  # [G]


def _matrix(groups: Sequence[Group], base: int, roots: Sequence[int]) -> list[list[int]]:
    """Row numbers [G, K]: the root, its extra rows from `base` on, then the root for dead rows."""
    width = max(group.routes for group in groups)
    return [
        [root, *range(base + group.first, base + group.first + group.routes - 1)]
        + [root] * (width - group.routes)
        for group, root in zip(groups, roots, strict=True)
    ]


def _alive(groups: Sequence[Group]) -> list[list[bool]]:
    width = max(group.routes for group in groups)
    return [[k < group.routes for k in range(width)] for group in groups]


class Step:
    """A plan with at least one group, on a device."""

    def __init__(self, plan: Plan, layers: MoeLayers, device: torch.device):
        self.plan = plan
        self.layers = layers
        groups = plan.groups
        specs = [group.candidate.spec for group in groups]

        def column(values: Sequence[float | bool]) -> Tensor:
            return torch.tensor(values, device=device)[:, None, None]

        self.tokens = torch.tensor(
            _matrix(groups, plan.tokens, [group.candidate.token for group in groups]), device=device
        )
        # The extra rows among the [G * K] of the matrix, and their rows in the batch.
        self.noisy = torch.tensor(
            [
                g * self.tokens.shape[1] + k
                for g, group in enumerate(groups)
                for k in range(1, group.routes)
            ],
            device=device,
        )
        self.targets = torch.arange(plan.tokens, plan.tokens + plan.count, device=device)
        self.tau = column([spec.tau for spec in specs])
        self.lambda_ = column([spec.lambda_ for spec in specs])
        self.penalise = column([spec.two_pass for spec in specs])
        self.softmax = column([spec.penalty == "softmax" for spec in specs])
        last = len(layers.numbers)
        self.routed = [
            column([spec.skip[0] <= layer < last - spec.skip[1] for spec in specs])
            for layer in range(last)
        ]
        self.noise = self._noise(device)
        self.pooled = self._pooled(device)

    def _noise(self, device: torch.device) -> Tensor:
        """[L, G, K, E]; zero for route 0 and for dead rows."""
        layers, extra = self.layers, self.plan.extra
        keys = [halves(row.candidate.spec.key) for row in extra]

        def longs(values: Sequence[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        drawn = gumbel_noise(
            longs([low for low, _ in keys]),
            longs([high for _, high in keys]),
            # Noise belongs to the token that is being chosen, one position on.
            longs([row.candidate.position + 1 for row in extra]),
            longs([row.route for row in extra]),
            longs(layers.numbers),
            layers.experts,
        )
        count, width = self.tokens.shape
        noise = drawn.new_zeros(len(layers.numbers), count * width, layers.experts)
        noise[:, self.noisy] = drawn
        return noise.view(-1, count, width, layers.experts)

    def _pooled(self, device: torch.device) -> list[_Pooled]:
        kinds: dict[tuple[str, int, bool], list[Group]] = {}
        for group in self.plan.groups:
            spec = group.candidate.spec
            kind = (spec.aggregate, spec.confidence_count, spec.confidence_set == "alternatives")
            kinds.setdefault(kind, []).append(group)
        return [
            _Pooled(
                *kind,
                torch.tensor(
                    _matrix(
                        groups, self.plan.requests, [group.candidate.request for group in groups]
                    ),
                    device=device,
                ),
                torch.tensor(_alive(groups), device=device),
                torch.tensor(
                    [group.candidate.spec.aggregate_temperature for group in groups], device=device
                ),
            )
            for kind, groups in kinds.items()
        ]

    def perturb(self, logits: Tensor, layer: int) -> None:
        """Writes the second-pass scores of the extra rows into router logits [T, E].

        layer: the how manyth MoE layer.
        """
        rows = logits[self.tokens].float()
        scores = two_pass(
            rows,
            self.noise[layer],
            self.layers.used[layer],
            self.tau,
            self.lambda_,
            self.penalise,
            self.softmax,
        )
        scores = torch.where(self.routed[layer], scores, rows)
        logits[self.targets] = scores.flatten(0, 1)[self.noisy].to(logits.dtype)

    def aggregate(self, logits: Tensor) -> Tensor:
        """Logits [m, V] of the requests, out of those [m + x, V] of all rows.

        The row of a refined request holds the aggregated log-probabilities.
        """
        out = logits[: self.plan.requests].float()
        if out.data_ptr() == logits.data_ptr():
            out = out.clone()
        for pool in self.pooled:
            mixed, _ = aggregate(
                logits[pool.rows],
                pool.alive,
                pool.temperature,
                pool.rule,
                pool.count,
                pool.alternatives,
            )
            out[pool.rows[:, 0]] = mixed
        return out


class _Current:
    """The step of the forward that is running; a worker process runs one at a time."""

    step: Step | None = None


CURRENT = _Current()
