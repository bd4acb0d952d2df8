"""The worker for `--worker-cls` on GPUs. Untested: it was written beside the one for CPUs."""

from __future__ import annotations

from typing import Any

from vllm.v1.worker.gpu_model_runner import GPUModelRunner
from vllm.v1.worker.gpu_worker import Worker

from vllm_hyper.check import check_config, check_runner
from vllm_hyper.layers import register
from vllm_hyper.runner import RefinedRows
from vllm_hyper.settings import read_settings


class GPURunner(RefinedRows, GPUModelRunner):
    """The V1 runner with extra rows."""


class GPUWorker(Worker):
    model_runner: GPURunner

    def __init__(self, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        check_config(vllm_config)
        check_runner(GPUModelRunner)
        register()
        super().__init__(vllm_config, *args, **kwargs)

    def _make_model_runner(self) -> GPUModelRunner:
        runner = GPURunner(self.vllm_config, self.device)
        runner.hyper_init(read_settings(self.vllm_config.additional_config))
        return runner

    def hyper_capabilities(self) -> dict[str, Any]:
        return self.model_runner.hyper_capabilities()

    def hyper_statistics(self) -> dict[str, int]:
        return self.model_runner.hyper_statistics()
