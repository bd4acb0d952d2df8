"""HyPER in Python: test-time scaling of language models by expanding and reducing hypotheses.

    import hyper_decode

    model = hyper_decode.Model()  # the bundled model; Model("file.gguf") for one of your own
    result = model.ask("Start with 12, add 7, multiply by 5. What is the result?", seed=7)
    print(result.answer, result.votes["majority"].scores)
"""

from __future__ import annotations

from ._answers import (
    Equality,
    Extraction,
    Grade,
    equal,
    extract,
    grade,
    group,
    parse,
    verify,
)
from ._errors import (
    CancelledError,
    DataLossError,
    HyperError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnavailableError,
    UnsupportedError,
)
from ._evaluation import register_grader, register_suite, register_table
from ._figures import Figure, Report
from ._methods import Method, methods, register
from ._model import Engine, Model, Remote, Run, Stream, bundled_model
from ._native import PathView, PoolView
from ._native import version as __version__
from ._result import Decision, Ledger, Path, Result, Tally, Vote
from ._study import Study
from ._table import Table

__all__ = [
    "CancelledError",
    "DataLossError",
    "Decision",
    "Engine",
    "Equality",
    "Extraction",
    "Figure",
    "Grade",
    "HyperError",
    "InternalError",
    "InvalidArgumentError",
    "Ledger",
    "Method",
    "Model",
    "NotFoundError",
    "Path",
    "PathView",
    "PoolView",
    "Remote",
    "Report",
    "ResourceExhaustedError",
    "Result",
    "Run",
    "Stream",
    "Study",
    "Table",
    "Tally",
    "UnavailableError",
    "UnsupportedError",
    "Vote",
    "__version__",
    "bundled_model",
    "equal",
    "extract",
    "grade",
    "group",
    "methods",
    "parse",
    "register",
    "register_grader",
    "register_suite",
    "register_table",
    "verify",
]
