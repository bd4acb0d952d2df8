"""Schedulers that keep the scratch blocks for themselves and let a refined token run alone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler as _AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler as _Scheduler

from vllm_hyper.check import check_config, check_scheduler
from vllm_hyper.settings import read_settings
from vllm_hyper.spec import parse_spec

if TYPE_CHECKING:
    _Base = _Scheduler
else:
    _Base = object


class _Reserving(_Base):
    def __init__(self, vllm_config: Any, kv_cache_config: Any, *args: Any, **kwargs: Any) -> None:
        check_config(vllm_config)
        check_scheduler(_Scheduler)
        settings = read_settings(vllm_config.additional_config)
        scratch = settings.rows * len(kv_cache_config.kv_cache_groups)
        blocks = kv_cache_config.num_blocks - scratch
        longest = -(-vllm_config.model_config.max_model_len // vllm_config.cache_config.block_size)
        if blocks < longest + 1:
            raise ValueError(
                f"vllm_hyper: {kv_cache_config.num_blocks} KV blocks less {scratch} scratch blocks "
                f"do not hold one request of the greatest length, {longest} blocks; give the KV "
                "cache more memory, or lower rows or --max-model-len"
            )
        # The workers allocate all blocks; the last ones are never handed out.
        super().__init__(
            vllm_config, dataclasses.replace(kv_cache_config, num_blocks=blocks), *args, **kwargs
        )

    def _reserve_prefill_lookahead(
        self, request: Any, num_computed_tokens: int, num_new_tokens: int
    ) -> int:
        count = super()._reserve_prefill_lookahead(request, num_computed_tokens, num_new_tokens)
        ends = num_computed_tokens + count == request.num_tokens
        if count > 1 and ends and _is_refined(request):
            # The last known token runs alone in the next forward, as one row per route.
            return count - 1
        return count


def _is_refined(request: Any) -> bool:
    params = request.sampling_params
    spec = parse_spec(params.extra_args) if params is not None else None
    return spec is not None and spec.routes > 1


class Scheduler(_Reserving, _Scheduler):
    """For `--scheduler-cls` where scheduling is synchronous, as on a CPU."""


class AsyncScheduler(_Reserving, _AsyncScheduler):
    """For `--scheduler-cls` with asynchronous scheduling, the default on GPUs. Untested."""
