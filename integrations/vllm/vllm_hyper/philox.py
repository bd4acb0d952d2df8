"""The random numbers of HyPER: Philox4x32-10 (Salmon et al., SC 2011).

The recipe stands at the head of HyPER's src/core/random.h. The function works on Python integers
and on int64 tensors alike: a product that wraps around at 64 bits keeps its two 32-bit halves.
"""

from __future__ import annotations

from typing import Any

MASK = 0xFFFF_FFFF
ROUTE_PURPOSE = 1  # draws of router noise


def philox(low: Any, high: Any, counter: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """The four 32-bit words for a 64-bit key, given in two halves, and four counter words."""
    x0, x1, x2, x3 = counter
    for _ in range(10):
        p0, p1 = 0xD251_1F53 * x0, 0xCD9E_8D57 * x2
        x0, x1, x2, x3 = (
            ((p1 >> 32) & MASK) ^ x1 ^ low,
            p1 & MASK,
            ((p0 >> 32) & MASK) ^ x3 ^ high,
            p0 & MASK,
        )
        low, high = (low + 0x9E37_79B9) & MASK, (high + 0xBB67_AE85) & MASK
    return x0, x1, x2, x3


def halves(key: int) -> tuple[int, int]:
    """The low and the high word of a 64-bit key."""
    return key & MASK, key >> 32 & MASK


def route_counter(position: Any, layer: Any, route: Any, block: Any) -> tuple[Any, Any, Any, Any]:
    """The counter whose words are the noise of experts 4 * block to 4 * block + 3."""
    return position, ROUTE_PURPOSE | layer << 8, route, block
