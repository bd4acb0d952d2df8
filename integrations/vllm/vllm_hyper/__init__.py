"""SingleToken of HyPER inside vLLM 0.32. See README.md of this folder for the flags.

The classes that vLLM's flags name are loaded on demand, so that the parts without vLLM can be used
and tested without it.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_CLASSES = {
    "CPUWorker": "vllm_hyper.cpu_worker",
    "GPUWorker": "vllm_hyper.gpu_worker",
    "Scheduler": "vllm_hyper.scheduler",
    "AsyncScheduler": "vllm_hyper.scheduler",
    "SpecCheck": "vllm_hyper.spec_check",
}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_CLASSES[name]), name)
