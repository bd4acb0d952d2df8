"""The worker for `--worker-cls` on CPUs."""

from __future__ import annotations

from typing import Any

from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm.v1.worker.cpu_worker import CPUWorker as _CPUWorker

from vllm_hyper.check import check_config, check_runner
from vllm_hyper.layers import register
from vllm_hyper.runner import RefinedRows
from vllm_hyper.settings import read_settings


class CPURunner(RefinedRows, CPUModelRunner):
    """The V1 runner with extra rows."""


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
