"""The operator's settings: `--additional-config '{"hyper": {"rows": 48}}'`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    rows: int  # extra rows that one forward may hold


def read_settings(additional: object) -> Settings:
    """Raises ValueError where the settings are missing or wrong."""
    ours: Any = additional.get("hyper") if isinstance(additional, Mapping) else None
    if not isinstance(ours, Mapping):
        raise ValueError(
            "vllm_hyper: the number of extra rows is not set; add for instance "
            '--additional-config \'{"hyper": {"rows": 48}}\''
        )
    unknown = set(ours) - {"rows"}
    if unknown:
        raise ValueError(f"vllm_hyper: unknown settings {sorted(unknown)}; known is rows")
    rows = ours.get("rows")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError(f"vllm_hyper: rows is {rows!r}; it takes an integer from 1")
    return Settings(rows)
