"""What a request asks for: the members `hyper_*` of `vllm_xargs`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "hyper_"
MAX_ROUTES = 256
PENALTIES = ("score", "softmax")
AGGREGATES = ("confidence", "mean-prob")
SETS = ("alternatives", "top-k")


class SpecError(ValueError):
    """A request asks for something that cannot be done; the text says what and why."""


@dataclass(frozen=True)
class Spec:
    """How the tokens of a request are refined; names and defaults are those of HyPER's options."""

    routes: int
    key: int = 0  # of the lane, 64 bits; the noise depends on it
    tau: float = 0.5
    lambda_: float = 0.1
    two_pass: bool = True
    penalty: str = "score"
    aggregate: str = "confidence"
    aggregate_temperature: float = 1.0
    confidence_count: int = 8
    confidence_set: str = "alternatives"
    skip: tuple[int, int] = (0, 0)  # MoE layers kept clean at the start and at the end


def _error(name: str, value: object, takes: str) -> SpecError:
    return SpecError(f"vllm_xargs: {name} is {value!r}; it takes {takes}")


def _integer(low: int, high: int) -> Callable[[str, Any], int]:
    def read(name: str, value: Any) -> int:
        # JSON numbers above 2^53 do not survive some clients, so digits in a string count too.
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _error(name, value, f"an integer from {low} to {high}")
        return value

    return read


def _number(at_least: float, above: bool) -> Callable[[str, Any], float]:
    def read(name: str, value: Any) -> float:
        fine = isinstance(value, (int, float)) and not isinstance(value, bool)
        if (
            not fine
            or not math.isfinite(value)
            or value < at_least
            or (above and value == at_least)
        ):
            raise _error(name, value, f"a number {'above' if above else 'from'} {at_least:g}")
        return float(value)

    return read


def _word(words: tuple[str, ...]) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if value not in words:
            raise _error(name, value, " or ".join(words))
        return str(value)

    return read


def _skip(name: str, value: Any) -> tuple[int, int]:
    layer = _integer(0, 65536)
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise _error(name, value, "a list of two counts, layers at the start and at the end")
    return layer(name, value[0]), layer(name, value[1])


def _flag(name: str, value: Any) -> bool:
    return bool(_integer(0, 1)(name, value))


# Member of vllm_xargs, field of Spec, reader.
_MEMBERS: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "hyper_k": ("routes", _integer(1, MAX_ROUTES)),
    "hyper_key": ("key", _integer(0, 2**64 - 1)),
    "hyper_tau": ("tau", _number(0, above=False)),
    "hyper_lambda": ("lambda_", _number(0, above=False)),
    "hyper_two_pass": ("two_pass", _flag),
    "hyper_penalty": ("penalty", _word(PENALTIES)),
    "hyper_agg": ("aggregate", _word(AGGREGATES)),
    "hyper_agg_temperature": ("aggregate_temperature", _number(0, above=True)),
    "hyper_count": ("confidence_count", _integer(1, 1024)),
    "hyper_set": ("confidence_set", _word(SETS)),
    "hyper_skip": ("skip", _skip),
}


def parse_spec(arguments: Mapping[str, Any] | None) -> Spec | None:
    """The spec in a request's extra arguments, or None where they ask for nothing.

    Raises SpecError.
    """
    ours = {name: value for name, value in (arguments or {}).items() if name.startswith(PREFIX)}
    if not ours:
        return None
    fields: dict[str, Any] = {}
    for name, value in ours.items():
        if name == "hyper_weights":
            if value != "noisy":
                raise SpecError(
                    f"vllm_xargs: hyper_weights is {value!r}; only noisy works inside vLLM, whose "
                    "router takes the experts and their weights from one row"
                )
            continue
        if name not in _MEMBERS:
            raise SpecError(f"vllm_xargs: {name} is unknown; known are {', '.join(_MEMBERS)}")
        field, read = _MEMBERS[name]
        fields[field] = read(name, value)
    if "routes" not in fields:
        raise SpecError("vllm_xargs: hyper_k, the number of routes, is missing")
    if fields["routes"] > 1 and "key" not in fields:
        raise SpecError("vllm_xargs: hyper_key is missing; the routing noise depends on it")
    return Spec(**fields)
