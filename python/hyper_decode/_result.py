"""What a run gives: answer, votes, paths, decisions and costs, as plain values.

Names and meanings are those of docs/json.md.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

_FROZEN = {"frozen": True}


@dataclasses.dataclass(**_FROZEN)
class Tally:
    """One answer under a vote rule."""

    answer: str
    score: float | None
    share: float | None
    paths: int
    candidate: bool


@dataclasses.dataclass(**_FROZEN)
class Vote:
    """The outcome of one vote rule; the winner is the first of the scores."""

    answer: str | None
    tie: bool
    clipped: int
    scores: list[Tally]


@dataclasses.dataclass(**_FROZEN)
class Path:
    """One path of the pool. tokens counts inherited ones too."""

    id: int
    parent: int | None
    fork_position: int
    warmup: bool
    status: str
    reason: str | None
    kept: int | None
    answer: str | None
    tentative: bool
    tokens: int
    mean_confidence: float | None
    lowest_window: float | None
    text: str = dataclasses.field(repr=False)


@dataclasses.dataclass(**_FROZEN)
class Decision:
    """One decision of the controller."""

    step: int
    position: int
    raw: dict[str, float | None]
    normalised: dict[str, float | None]
    scores: dict[str, float | None]
    action: str
    acted: bool
    expansion: int
    paths_before: int
    paths_after: int
    lanes_after: int
    note: str | None


@dataclasses.dataclass(**_FROZEN)
class Ledger:
    """Tokens, lanes and KV cells that the run cost."""

    generated: int
    effective: int
    refined: int
    extra_routes: int
    prefilled: int
    recomputed: int
    probe: int
    judge: int
    value: int
    lanes_opened: int
    lanes_peak: int
    lanes_mean: float | None
    positions: int
    cells_peak: int
    cells_peak_bytes: float | None
    penalty_sums: int
    penalty_rewards: int
    saved: int
    stalls: int


class Result:
    """The outcome of a run. `json` is the whole object, as `hyper run --json` prints it."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.json = report
        self.answer: str | None = report["answer"]
        self.text: str = report["text"]
        self.method: str = report["method"]
        self.seed: int = report["seed"]
        self.partial: bool = report["partial"]
        self.partial_reason: str | None = report["partial_reason"]
        self.vote_rule: str = report["vote_rule"]
        self.votes = {
            rule: Vote(**{**vote, "scores": [Tally(**tally) for tally in vote["scores"]]})
            for rule, vote in report["votes"].items()
        }
        self.paths = [Path(**path) for path in report["paths"]]
        self.decisions = [
            Decision(**{name: value for name, value in decision.items() if name != "record"})
            for decision in report["decisions"]
        ]
        self.ledger = Ledger(**report["ledger"])
        self.options: dict[str, Any] = report["options"]
        self.question: str = report["question"]
        self.prompt: str = report["prompt"]
        self.warnings: list[str] = report["warnings"]
        self.timing: dict[str, float] | None = report.get("timing")

    @classmethod
    def from_text(cls, text: str) -> Result:
        """A result from its JSON, as to_text gave it."""
        return cls(json.loads(text))

    def to_text(self) -> str:
        """The result as JSON on one line."""
        return json.dumps(self.json, ensure_ascii=False)

    @property
    def vote(self) -> Vote:
        """The vote that picked the answer."""
        return self.votes[self.vote_rule]

    @property
    def winner(self) -> Path | None:
        """The path that speaks for the answer; its text is where `text` comes from."""
        winner = self.json["winner"]
        return None if winner is None else self.paths[winner]

    def __repr__(self) -> str:
        partial = ", partial" if self.partial else ""
        return (
            f"Result(answer={self.answer!r}, method={self.method!r}, {len(self.paths)} paths, "
            f"{self.ledger.effective} effective tokens, seed={self.seed}{partial})"
        )

    def _repr_html_(self) -> str:
        from ._html import result_html

        return result_html(self)
