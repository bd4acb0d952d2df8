"""Which rows are added to a forward: pure bookkeeping, without torch or vLLM.

A refined request brings K - 1 extra rows, route 1 to K - 1. A row lives for one forward. It reads
the request's KV blocks but the last, in whose place it has a scratch block of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vllm_hyper.spec import Spec


@dataclass(frozen=True)
class Candidate:
    """A request that decodes exactly one token in this forward."""

    request: int  # its row in the batch of requests
    token: int  # its row in the batch of tokens
    position: int  # of that token in the request's history
    spec: Spec


@dataclass(frozen=True)
class Group:
    """A request that is refined; its routes 1 .. routes - 1 are extra rows from `first` on."""

    candidate: Candidate
    routes: int
    first: int


@dataclass(frozen=True)
class ExtraRow:
    candidate: Candidate
    route: int


@dataclass(frozen=True)
class Plan:
    requests: int  # m, real requests
    tokens: int  # n, real tokens
    groups: tuple[Group, ...]
    capped: int  # rows that were asked for, but for which there was no room

    @property
    def extra(self) -> list[ExtraRow]:
        """The extra rows in order: row j is request m + j and token n + j."""
        return [
            ExtraRow(group.candidate, route)
            for group in self.groups
            for route in range(1, group.routes)
        ]

    @property
    def count(self) -> int:
        return sum(group.routes - 1 for group in self.groups)


def share(wanted: Sequence[int], room: int) -> list[int]:
    """Rows for each request: what it wants, and if that is too much an even share.

    The largest are cut first, among equals the last. So the result does not depend on anything
    but the numbers, and all ranks agree.
    """
    given = list(wanted)
    over = sum(given) - max(room, 0)
    while over > 0:
        most = max(given)
        last = max(i for i, rows in enumerate(given) if rows == most)
        given[last] -= 1
        over -= 1
    return given


def build_plan(
    candidates: Iterable[Candidate], requests: int, tokens: int, room: int
) -> Plan | None:
    """The plan of one forward, or None where it adds no row.

    room: extra rows that fit.
    """
    refined = [candidate for candidate in candidates if candidate.spec.routes > 1]
    wanted = [candidate.spec.routes - 1 for candidate in refined]
    given = share(wanted, room)
    groups = []
    first = 0
    for candidate, rows in zip(refined, given, strict=True):
        if rows > 0:
            groups.append(Group(candidate, rows + 1, first))
            first += rows
    if not refined:
        return None
    return Plan(requests, tokens, tuple(groups), sum(wanted) - sum(given))


def block_row(root: Sequence[int], position: int, block_size: int, scratch: int) -> list[int]:
    """The block table of an extra row: the root's up to `position`, the last one replaced."""
    count = position // block_size + 1
    return [*(int(block) for block in root[: count - 1]), scratch]


def scratch_block(blocks: int, rows: int, groups: int, row: int, group: int) -> int:
    """Block of extra row `row` in KV group `group`: the last rows * groups blocks are ours."""
    return blocks - rows * groups + row * groups + group
