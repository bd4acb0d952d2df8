"""Methods and rewards of your own. docs/your-own-method.md shows how to write one."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import _native

if TYPE_CHECKING:
    from ._native import PathView, PoolView

# A reward of your own: a number from 0 to 1 for each step. A step is a dict of `path` (a number),
# `before` and `text` (what the path wrote before the step, and in it).
Reward = Callable[[list[dict[str, Any]]], list[float]]

# Exceptions of methods by the message of the error that they became, newest last.
_failures: dict[str, BaseException] = {}
_MOST_FAILURES = 100


class Method:
    """The base of a method of your own: what the pool does next.

    Paths advance in rounds. A round begins with a grant and is over when every running path has
    used its grant or ended; `on_settled` then grants the next one. One object serves one question.
    The calls come on the engine's thread. The pool can be used inside them only.
    """

    #: Its name: small letters, digits and dashes.
    name = ""
    #: One line for lists; by default the first line of the docstring.
    description = ""
    #: The built-in method whose options it reads and whose defaults it has.
    base = "sc"
    #: Options that it has other values of, such as {"vote": "weighted"}.
    defaults: dict[str, Any] = {}

    def start(self, pool: PoolView) -> None:
        """Opens the first paths and grants them tokens."""
        raise NotImplementedError(f"{type(self).__name__} has no start")

    def on_settled(self, pool: PoolView) -> None:
        """The round is over: grants the next one, or opens further paths."""
        raise NotImplementedError(f"{type(self).__name__} has no on_settled")

    def done(self, pool: PoolView) -> bool:
        """Whether nothing more is to be decoded. By default: no path runs."""
        return not pool.running

    def on_finish(self, pool: PoolView, path: PathView) -> None:
        """A path has ended."""

    def on_token(self, pool: PoolView, path: PathView) -> None:
        """A path has taken a token or has ended."""

    def vote_rule(self, pool: PoolView) -> str | None:
        """The vote rule that picks the answer. None: that of the options."""

    def weight(self, pool: PoolView, path: PathView) -> float | None:
        """The score of a path for the rules weighted, best and borda. None: it has none."""

    def votes(self, pool: PoolView, path: PathView) -> bool:
        """Whether a path with an answer votes."""
        return True


_Class = TypeVar("_Class", bound=type[Method])


def register(method: _Class, *arguments: Any, **keywords: Any) -> _Class:
    """Makes a method known by its name, for `ask` and for the program's commands, until the process
    ends. `ask(method=Class)` works without.

    The class is called with the other arguments for every question. May decorate a class. A method
    of the same name that was registered before is replaced.
    """
    doc = (method.__doc__ or "").strip().splitlines()
    description = method.description or (doc[0] if doc else method.__name__)
    defaults = " ".join(f"{option}={text}" for option, text in default_texts(method))

    def make() -> Any:
        return method(*arguments, **keywords)

    _native.register_method(method.name, description, method.base, defaults, make)
    return method


def default_texts(method: type[Method]) -> list[tuple[str, str]]:
    """The defaults of a class as options and their texts."""
    return [(name.replace("_", "-"), _text(value)) for name, value in method.defaults.items()]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def methods() -> dict[str, str]:
    """All methods by name, with their descriptions."""
    return dict(_native.methods())


def overridden(method: Any) -> dict[str, bool]:
    """Which calls of Method a class has of its own."""
    names = ("on_token", "on_finish", "vote_rule", "weight", "votes")
    return {
        name: getattr(type(method), name, None) is not getattr(Method, name) for name in names
    }


def failure(who: str, call: str, exception: BaseException) -> str:
    """The message of an exception that a method raised. The exception itself is kept."""
    frames = traceback.extract_tb(exception.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    words = " ".join(traceback.format_exception_only(type(exception), exception)).strip()
    words = " ".join(words.split())
    message = f"{who}{'.' if call else ''}{call} raised {words}{place}"
    while len(_failures) >= _MOST_FAILURES:
        _failures.pop(next(iter(_failures)))
    _failures[message] = exception
    return message


def cause_of(message: str) -> BaseException | None:
    """The exception that a message is of."""
    return _failures.pop(message, None)
