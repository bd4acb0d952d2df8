"""The exceptions of hyper_decode. Each stands for one kind of failure of the library."""

from __future__ import annotations

import re


class HyperError(Exception):
    """A failure of the library. The message names the value, the reason and the remedy."""

    code = "internal"


class InvalidArgumentError(HyperError, ValueError):
    """A value that the caller gave is out of its range."""

    code = "invalid_argument"


class NotFoundError(HyperError, LookupError):
    """A file, model or method that does not exist."""

    code = "not_found"


class UnsupportedError(HyperError):
    """The engine or the model lacks the ability."""

    code = "unsupported"


class ResourceExhaustedError(HyperError):
    """Memory, KV cells or lanes ran out."""

    code = "resource_exhausted"


class UnavailableError(HyperError, ConnectionError):
    """A server or device did not answer; trying again may help."""

    code = "unavailable"


class DataLossError(HyperError):
    """A file is broken, or an answer could not be read."""

    code = "data_loss"


class CancelledError(HyperError):
    """Stopped on request."""

    code = "cancelled"


class InternalError(HyperError, RuntimeError):
    """A bug, or an unexplained failure of a dependency."""


_KINDS = {kind.code: kind for kind in HyperError.__subclasses__()}


def _keyword(match: re.Match[str]) -> str:
    return match.group(1).replace("-", "_")


def of_code(code: str, message: str) -> HyperError:
    """The exception of an error; flags in its message become keyword arguments."""
    message = re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)", _keyword, message)
    message = re.sub(r"(?<=option ')([a-z][a-z0-9-]*)(?=')", _keyword, message)
    return _KINDS.get(code, InternalError)(message)
