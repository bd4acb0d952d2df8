"""Router noise and two-pass expert sampling (the paper's Sec. 3.2 and Algorithm 2), in torch.

The definitions are those of HyPER's src/core/random.h and src/core/routing.h.
G groups (refined tokens), K routes (the longest group; shorter ones end in dead rows), E experts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vllm_hyper.philox import philox, route_counter


def gumbel_noise(
    key_low: Tensor, key_high: Tensor, position: Tensor, route: Tensor, layers: Tensor, experts: int
) -> Tensor:
    """Standard Gumbel noise [L, R, E] of R rows in L layers; float32.

    The first four are int64 tensors [R], `layers` is one [L] of the model's layer numbers.
    """
    block = torch.arange((experts + 3) // 4, device=layers.device)
    words = philox(
        key_low[None, :, None],
        key_high[None, :, None],
        route_counter(position[None, :, None], layers[:, None, None], route[None, :, None], block),
    )
    bits = torch.stack(words, dim=-1).flatten(-2)[..., :experts]
    uniform = (bits.double() + 0.5) * 2.0**-32
    return (-torch.log(-torch.log(uniform))).float()


def top_mask(scores: Tensor, used: int) -> Tensor:
    """Whether an entry is among the `used` largest of its row; of equals the first counts."""
    ordered = scores.where(~scores.isnan(), -torch.inf)
    # Stable, unlike topk: of equal values the lower index comes first.
    best = ordered.sort(dim=-1, descending=True, stable=True).indices[..., :used]
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, best, True)


def two_pass(
    rows: Tensor,
    noise: Tensor,
    used: int,
    tau: Tensor,
    lambda_: Tensor,
    penalise: Tensor,
    softmax: Tensor,
) -> Tensor:
    """Second-pass scores [G, K, E] of router rows [G, K, E], route 0 first.

    noise: the same shape, zero for route 0. tau, lambda_, penalise (two passes or only the noise)
    and softmax (what the penalty sums up) are one value per group, [G, 1, 1].
    """
    first = rows + tau * noise
    weight = torch.where(softmax, first.softmax(-1), first)
    scores = torch.where(top_mask(first, used), weight, 0.0)
    before = torch.zeros_like(scores)
    before[:, 1:] = scores[:, :-1].cumsum(1)  # what the earlier routes chose
    return torch.where(penalise, first - lambda_ * before.tanh(), first)
