"""Refuses a wrong spec before its request is admitted: HTTP 400 with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from vllm import SamplingParams
from vllm.v1.sample.logits_processor.interface import BatchUpdate, LogitsProcessor

from vllm_hyper.spec import parse_spec

if TYPE_CHECKING:
    from vllm.config import VllmConfig


class SpecCheck(LogitsProcessor):
    """Changes no logits; vLLM calls `validate_params` for every request."""

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        parse_spec(sampling_params.extra_args)

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:
        pass

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        return logits

    def is_argmax_invariant(self) -> bool:
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        pass
