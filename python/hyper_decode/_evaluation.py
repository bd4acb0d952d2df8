"""Graders, suites and tables of your own, for the program's commands.

docs/your-own-method.md has an example of each.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Mapping, TypeVar, Union

from . import _native
from ._answers import Equality, Grade

#: What a grader returns: right, wrong, undecided; or what `equal` or `grade` gave.
Verdict = Union[bool, None, Equality, Grade]
Grader = Callable[[dict[str, Any]], Verdict]
TableMaker = Callable[[list[dict[str, Any]]], Mapping[str, Any]]

_NAMES: dict[Any, str] = {True: "equal", False: "not equal", None: "undecided"}
_NAMES |= {"right": "equal", "wrong": "not equal"}

_Grader = TypeVar("_Grader", bound=Grader)
_Table = TypeVar("_Table", bound=TableMaker)


def register_grader(
    name: str, suites: Iterable[str], version: int = 1
) -> Callable[[_Grader], _Grader]:
    """Makes a function the grader of these suites, in place of the rules of docs/answers.md.

    It gets a dict of `suite`, `question` (its name), `text`, `group`, `kind`, `gold` and `answer`,
    all of them texts, and returns True, False or None (undecided), or what `equal` or `grade` gave.
    It is called only where there is an answer. Raise `version` with every change that could change
    a verdict: stored answers are then graded again.
    """

    def add(function: _Grader) -> _Grader:
        def grade(request: str) -> str:
            told = function(json.loads(request))
            if isinstance(told, (Equality, Grade)):
                return json.dumps([_NAMES.get(told.verdict, told.verdict), told.reason])
            if told is not None and not isinstance(told, bool):
                raise TypeError(f"a grader returns True, False or None, not {told!r}")
            return json.dumps([_NAMES[told], ""])

        _native.register_grader(name, version, list(suites), grade)
        return function

    return add


def register_suite(
    suite: Mapping[str, Any],
    questions: Union[Iterable[Mapping[str, Any]], Callable[[], Iterable[Mapping[str, Any]]]],
) -> None:
    """Adds a suite: what a file of docs/suites.md holds, as a dict, and its questions.

    A question is a dict such as {"question": "...", "answer": 95}. A function that returns them is
    called when they are needed.
    """

    def rows(_: str) -> str:
        given = questions() if callable(questions) else questions
        return json.dumps([dict(question) for question in given])

    _native.register_suite(json.dumps(dict(suite)), rows)


def register_table(name: str) -> Callable[[_Table], _Table]:
    """Makes a function a table of studies.

    It gets the rows of the study, each a dict of `label`, `method`, `suite`, `model`, `seed`,
    `settings` and `answers`. An answer is a dict of `question`, `group`, `gold`, `repeat`,
    `answer`, `outcome` ("right", "wrong", "undecided" or "failed"), `ledger` (docs/json.md) and `seconds`. It
    returns a dict of `title`, `columns` (texts), `rows` (lists of texts, numbers and None) and, if
    there are any, `notes` (texts).
    """

    def add(function: _Table) -> _Table:
        def make(rows: str) -> str:
            table = dict(function(json.loads(rows)))
            # NaN is no JSON, and nothing in a cell.
            table["rows"] = [
                [None if cell != cell else cell for cell in row] for row in table.get("rows", [])
            ]
            return json.dumps(table)

        _native.register_table(name, make)
        return function

    return add
