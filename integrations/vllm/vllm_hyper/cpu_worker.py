"""The worker for `--worker-cls` on CPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm.v1.worker.cpu_worker import CPUWorker as _CPUWorker

from vllm_hyper.check import check_config, check_runner
from vllm_hyper.layers import register
from vllm_hyper.runner import RefinedRows
from vllm_hyper.settings import Settings, read_settings


class CPURunner(RefinedRows, CPUModelRunner):
    """The V1 runner with extra rows.

    A forward draws a token for a chunk of a prompt too, and forgets it. vLLM then winds the
    request's generator back by an offset. Generators on CPUs have none: the engine would die. So a
    request that has a seed draws such a token without its generator.
    """

    def hyper_init(self, settings: Settings) -> None:
        super().hyper_init(settings)
        self._hyper_resting: dict[int, torch.Generator] = {}  # by place in the batch

    def _prepare_inputs(self, scheduler_output: Any, num_scheduled_tokens: np.ndarray) -> Any:
        prepared = super()._prepare_inputs(scheduler_output, num_scheduled_tokens)
        generators = self.input_batch.generators
        for index in [*generators]:
            if self.discard_request_mask.np[index]:
                self._hyper_resting[index] = generators.pop(index)
        return prepared

    # vLLM decorates it with a class, in whose place mypy takes no function.
    def sample_tokens(self, grammar_output: Any) -> Any:  # type: ignore[override]
        try:
            return super().sample_tokens(grammar_output)
        finally:
            self.input_batch.generators.update(self._hyper_resting)
            self._hyper_resting.clear()


class CPUWorker(_CPUWorker):
    model_runner: CPURunner

    def __init__(self, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        check_config(vllm_config)
        check_runner(CPUModelRunner)
        register()
        super().__init__(vllm_config, *args, **kwargs)

    def init_device(self) -> None:
        super().init_device()
        # vLLM's method builds the runner inline, so its class is changed afterwards.
        self.model_runner.__class__ = CPURunner
        self.model_runner.hyper_init(read_settings(self.vllm_config.additional_config))

    def hyper_capabilities(self) -> dict[str, Any]:
        return self.model_runner.hyper_capabilities()

    def hyper_statistics(self) -> dict[str, int]:
        return self.model_runner.hyper_statistics()
