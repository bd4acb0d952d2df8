"""Keyword arguments, made from the option tables of the library.

Signatures, docstrings, errors and the type stub all read these tables; there is no second list.
"""

from __future__ import annotations

import difflib
import inspect
import json
import keyword
from typing import Any, Callable, Mapping, TypeVar

from . import _native

_TABLES: dict[str, list[dict[str, Any]]] = json.loads(_native.option_tables())
# Of the result, not of the table.
_TIMING = {
    "name": "timing",
    "help": "the result has times",
    "group": "Run",
    "symbol": "",
    "type": "switch",
    "words": [],
    "takes": "false, true",
    "default": "false",
    "repeated": False,
    "automatic": False,
    "read_by": [],
}
_TABLES["question"].append(_TIMING)

# What may be your own too: see Method.
_OWN = {"method": "str | type[Method]", "reward": "str | Reward"}
_TYPES = {"integer": int, "number": float, "switch": bool, "word": str, "text": str, "list": str}


def table(of: str) -> list[dict[str, Any]]:
    """The options of a "question", a "model" or a "server", as the library lists them."""
    return _TABLES[of]


def keyword_of(name: str) -> str:
    """The keyword of an option: keep-percent is keep_percent, and lambda is lambda_."""
    word = name.replace("-", "_")
    return word + "_" if keyword.iskeyword(word) else word


def _annotation(option: Mapping[str, Any]) -> str:
    if option["name"] in _OWN:
        return _OWN[option["name"]]
    kind = _TYPES[option["type"]].__name__
    if option["type"] == "word":
        kind = "Literal[" + ", ".join(f'"{word}"' for word in option["words"]) + "]"
    elif option["type"] == "list" or option["takes"].startswith("a list") or option["repeated"]:
        kind = "str | Sequence[str] | Sequence[float]"
    elif option["automatic"]:
        kind += ' | Literal["auto"]'
    return kind


def to_json(of: str, keywords: Mapping[str, Any], caller: str) -> str:
    """The keywords as the library's JSON. None is an option that was not given.

    Raises TypeError for a keyword that no option has.
    """
    options = {keyword_of(option["name"]): option for option in _TABLES[of]}
    members = {}
    for word, value in keywords.items():
        option = options.get(word)
        if option is None:
            near = difflib.get_close_matches(word, options, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{caller}() got an unexpected keyword argument {word!r}{hint}")
        if value is None:
            continue
        if isinstance(value, (list, tuple, set, frozenset)) and not option["repeated"]:
            value = ",".join(str(entry) for entry in value)
        members[option["name"]] = value
    try:
        return json.dumps(members)
    except TypeError as error:
        raise TypeError(f"{caller}(): {error}") from None


def _described(option: Mapping[str, Any]) -> str:
    symbol = f" ({option['symbol']})" if option["symbol"] else ""
    readers = f" Read by {', '.join(option['read_by'])}." if option["read_by"] else ""
    default = f" Default: {option['default']}." if option["default"] else ""
    return (
        f"    {keyword_of(option['name'])}: {option['help']}{symbol}. "
        f"Takes {option['takes']}.{default}{readers}"
    )


_Function = TypeVar("_Function", bound=Callable[..., Any])


def takes(of: str) -> Callable[[_Function], _Function]:
    """Gives a function's signature and docstring the options of a table in place of **options."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        taken = {parameter.name for parameter in parameters}
        lines = [inspect.getdoc(function) or "", "", "Options:"]
        for option in _TABLES[of]:
            name = keyword_of(option["name"])
            if name in taken:
                continue
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None,
                    annotation=f"{_annotation(option)} | None",
                )
            )
            lines.append(_described(option))
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        function.__doc__ = "\n".join(lines)
        return function

    return decorate


def stub() -> str:
    """The types of the keyword arguments, for _keywords.pyi."""
    lines = [
        "# Generated from the option tables by hyper_decode._options.",
        "from collections.abc import Sequence",
        "from typing import Literal, TypedDict",
        "",
        "from ._methods import Method, Reward",
    ]
    for name, of in (("Question", "question"), ("Engine", "model"), ("Server", "server")):
        lines += ["", f"class {name}Options(TypedDict, total=False):"]
        for option in _TABLES[of]:
            lines.append(f"    {keyword_of(option['name'])}: {_annotation(option)} | None")
    return "\n".join(lines) + "\n"



def write_stub(path: str) -> None:
    """Writes the stub; the build calls it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(stub())
