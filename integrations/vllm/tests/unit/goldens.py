"""The committed values of tests/goldens, and whether torch is at hand."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
HAS_TORCH = importlib.util.find_spec("torch") is not None
NO_TORCH = "torch is not installed"


@cache
def section(name: str) -> Any:
    text = (ROOT / "tests/goldens/core_goldens.json").read_text(encoding="utf-8")
    return json.loads(text)[name]
