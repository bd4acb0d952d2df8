"""Reading answers out of texts, and comparing them, without a model.

docs/answers.md lists the notation that is read and the rules.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Literal, Sequence, cast

from . import _native
from ._errors import InvalidArgumentError

Kind = Literal["integer", "math", "choice", "text"]


@dataclasses.dataclass(frozen=True)
class Equality:
    """Whether two answers mean the same, and why. True only if equality was proved."""

    verdict: Literal["equal", "not equal", "undecided"]
    reason: str

    def __bool__(self) -> bool:
        return self.verdict == "equal"


@dataclasses.dataclass(frozen=True)
class Extraction:
    """The answer of a text. text[begin:end] is `raw`; `rule` says how it was found."""

    answer: str | None
    raw: str
    begin: int
    end: int
    rule: str
    tentative: bool
    confidence_percent: float | None

    @property
    def final(self) -> str | None:
        """The answer to grade: none where it is tentative."""
        return None if self.tentative else self.answer


@dataclasses.dataclass(frozen=True)
class Grade:
    """Right, wrong or undecided, and why. True only where it is right."""

    verdict: Literal["right", "wrong", "undecided"]
    reason: str
    answer: str | None

    def __bool__(self) -> bool:
        return self.verdict == "right"


def equal(gold: str, answer: str, **options: Any) -> Equality:
    """Whether two answers are equal: proved, refuted, or undecided. Never by tolerance.

    Options, with their defaults: rounded=False, ignore_units=True, allow_renamed_constants=False,
    ignore_assignment=True, pair_as_interval=True, vector_as_tuple=True, bare_log="either", base=0,
    max_steps=100000, max_bytes=33554432, seed=1.
    """
    verdict, reason = _native.equal(gold, answer, **options)
    return Equality(cast(Any, verdict), reason)


def extract(text: str, **options: Any) -> Extraction:
    """The answer of a generated text.

    Options, with their defaults: kind="math" (or "integer", "choice", "text"), choices="ABCD",
    finished=True, opened_by_template=False, reasoning_answers="tentative" (or "final", "ignored"),
    box_or_label="box" (or "later"), fallbacks=True.
    """
    data = text.encode("utf-8", "surrogatepass")
    answer, raw, begin, _, rule, tentative, confidence = _native.extract(data, **options)
    shown = raw.decode("utf-8", "replace")
    first = len(data[:begin].decode("utf-8", "replace"))
    return Extraction(answer, shown, first, first + len(shown), rule, tentative, confidence)


def grade(gold: str, text: str, kind: Kind = "math", **options: Any) -> Grade:
    """Grades a generated text against the right answer.

    The answer is extracted with `options` as in `extract`. Numbers and mathematics are right or
    wrong by proof. A choice is its label. Words are right where they equal the gold but for white
    space, case and a final full stop; other words are undecided, since only a judge can tell.
    """
    if not gold.strip():
        raise InvalidArgumentError("the gold is empty; give the right answer")
    answer = extract(text, kind=kind, **options).final
    if answer is None:
        return Grade("wrong", "the text has no final answer", None)
    if kind == "choice":
        same = answer == gold.strip()
        reason = f"the labels {'are the same' if same else 'differ'}"
        return Grade("right" if same else "wrong", reason, answer)
    if kind == "text":
        if _plain(answer) == _plain(gold):
            return Grade("right", "the words are the same", answer)
        return Grade("undecided", "free text; it takes a judge", answer)
    verdict = equal(gold, answer)
    names: dict[str, Literal["right", "wrong", "undecided"]] = {
        "equal": "right",
        "not equal": "wrong",
        "undecided": "undecided",
    }
    return Grade(names[verdict.verdict], verdict.reason, answer)


def _plain(words: str) -> str:
    return " ".join(words.split()).lower().rstrip(" .")


def group(answers: Sequence[str]) -> list[int]:
    """The group of each answer: equal answers have the same number, in order of appearance."""
    return _native.group(list(answers))


def parse(pred: str, *_: Any, **__: Any) -> list[str]:
    """The answer in a text, in the place of Math-Verify's `parse`: a list, empty where there is none.

    Its other arguments are accepted and change nothing.
    """
    found = extract(pred).final
    return [] if found is None else [found]


def verify(gold: str | Iterable[str], target: str | Iterable[str], *_: Any, **__: Any) -> bool:
    """Whether a gold and an answer are equal, in the place of Math-Verify's `verify`.

    Takes what `parse` gives, or answers as texts. Its other arguments are accepted and change
    nothing: equality is proved, not rounded.
    """
    golds = [gold] if isinstance(gold, str) else list(gold)
    targets = [target] if isinstance(target, str) else list(target)
    return any(equal(one, other) for one in golds for other in targets)
