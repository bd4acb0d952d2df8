"""K next-token distributions into one (Sec. 3.2, step 3), in torch.

The definitions are those of HyPER's src/core/aggregate.h. G groups, K routes, V tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor

LOGPROB_FLOOR = -60.0


def confidences(logprobs: Tensor, count: int, alternatives: bool) -> Tensor:
    """Minus the mean log-probability of the `count` best tokens, [..., V] -> [...].

    alternatives: the best one, the route's own choice, does not count.
    """
    skipped = 1 if alternatives else 0
    best = logprobs.topk(min(count + skipped, logprobs.shape[-1]), dim=-1).values[..., skipped:]
    return -best.clamp(LOGPROB_FLOOR, 0.0).mean(-1)


def aggregate(
    logits: Tensor,
    alive: Tensor,
    temperature: Tensor,
    rule: str = "confidence",
    count: int = 8,
    alternatives: bool = True,
) -> tuple[Tensor, Tensor]:
    """Log-probabilities [G, V] out of logits [G, K, V], and the routes' weights [G, K].

    alive: [G, K], whether the row is a route. temperature: [G], of the softmax over confidences.
    A route with NaN or nothing finite is left out. Where none is left the result is NaN.
    """
    logits = logits.float()
    sums = logits.logsumexp(-1, keepdim=True)
    usable = alive & sums.squeeze(-1).isfinite()
    logprobs = logits - sums
    if rule == "confidence":
        sure = confidences(logprobs, count, alternatives)
        usable = usable & sure.isfinite()
        sure = sure.where(usable, -torch.inf)
        sure = sure - sure.amax(-1, keepdim=True)
        weights = (sure / temperature[:, None]).exp().where(usable, 0.0)
        mean = torch.zeros_like(logprobs[:, 0])
    else:
        weights = usable.float()
        mean = torch.full_like(logprobs[:, 0], -torch.inf)
    total = weights.sum(-1, keepdim=True)
    weights = torch.where(total > 0, weights / total, 0.0)
    for k in range(logits.shape[1]):
        weight = weights[:, k, None]
        # A weight of 0 leaves a row out, also where it holds -inf or NaN.
        if rule == "confidence":
            mean = mean + torch.where(weight > 0, weight * logprobs[:, k], 0.0)
        else:
            term = torch.where(weight > 0, weight.log() + logprobs[:, k], -torch.inf)
            mean = torch.logaddexp(mean, term)
    mean = mean.where(total > 0, torch.nan)
    return mean - mean.logsumexp(-1, keepdim=True), weights
