"""The rows of extra routes in a forward of the V1 model runner.

m requests with n tokens are what the scheduler asked for. x extra rows follow: row j is request
m + j of one token, n + j. Each one is a request of length 1 that borrows the block table of its
root up to the last block, in whose place it has a scratch block. The root's own row is route 0; it
alone writes blocks that live on (Clean Cache).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from vllm.v1.core.kv_cache_utils import KVCacheBlockCopy
from vllm.v1.worker.utils import copy_kv_cache_blocks_inplace

from vllm_hyper.layers import adopt
from vllm_hyper.plan import Candidate, Plan, block_row, build_plan, scratch_block
from vllm_hyper.settings import Settings
from vllm_hyper.spec import Spec, parse_spec
from vllm_hyper.step import CURRENT, MoeLayers, Step

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner as _Base
else:
    _Base = object


@dataclass
class Stats:
    """Counts since the server's start."""

    forwards: int = 0  # with at least one token
    refined_forwards: int = 0  # with extra rows
    refined_tokens: int = 0
    route_rows: int = 0  # extra rows
    capped_rows: int = 0  # rows asked for that found no room
    peak_rows: int = 0  # most extra rows of one forward


class RefinedRows(_Base):
    """Mixed into a V1 runner; `hyper_init` stands for a constructor."""

    def hyper_init(self, settings: Settings) -> None:
        self.hyper_settings = settings
        self.hyper_stats = Stats()
        self.hyper_layers: MoeLayers | None = None
        self._hyper_specs: dict[str, tuple[object, Spec | None]] = {}

    def hyper_capabilities(self) -> dict[str, Any]:
        assert self.hyper_layers is not None
        return {
            "max_extra_rows": self.hyper_settings.rows,
            "layers": len(self.hyper_layers.numbers),
            "experts": self.hyper_layers.experts,
            "experts_used": self.hyper_layers.used[0],
        }

    def hyper_statistics(self) -> dict[str, int]:
        return asdict(self.hyper_stats)

    # --- overridden methods of the V1 runner, in the order of a forward ---------------------------

    def load_model(self, *args: Any, **kwargs: Any) -> None:
        super().load_model(*args, **kwargs)
        self.hyper_layers = adopt(self.model)

    @torch.inference_mode()
    def execute_model(self, scheduler_output: Any, intermediate_tensors: Any = None) -> Any:
        for request in scheduler_output.finished_req_ids:
            self._hyper_specs.pop(request, None)
        try:
            return super().execute_model(scheduler_output, intermediate_tensors)
        finally:
            CURRENT.step = None

    def _prepare_inputs(self, scheduler_output: Any, num_scheduled_tokens: np.ndarray) -> Any:
        prepared = super()._prepare_inputs(scheduler_output, num_scheduled_tokens)
        plan = self._hyper_plan(num_scheduled_tokens)
        self._hyper_count(plan)
        if plan is None or plan.count == 0:
            return prepared
        assert self.hyper_layers is not None
        self._hyper_write_rows(plan)
        CURRENT.step = Step(plan, self.hyper_layers, self.device)
        logits_indices, spec_decode_metadata, max_num_sampled_tokens = prepared
        extra = torch.arange(
            plan.tokens,
            plan.tokens + plan.count,
            dtype=logits_indices.dtype,
            device=logits_indices.device,
        )
        return torch.cat((logits_indices, extra)), spec_decode_metadata, max_num_sampled_tokens

    def _determine_batch_execution_and_padding(
        self, num_tokens: int, num_reqs: int, *args: Any, **kwargs: Any
    ) -> Any:
        extra = _extra_rows()
        if extra:
            kwargs["force_eager"] = True  # CUDA graphs hold no step
            kwargs["allow_microbatching"] = False
        return super()._determine_batch_execution_and_padding(
            num_tokens + extra, num_reqs + extra, *args, **kwargs
        )

    def _get_slot_mappings(
        self,
        num_tokens_padded: int,
        num_reqs_padded: int,
        num_tokens_unpadded: int,
        ubatch_slices: Any = None,
    ) -> Any:
        num_tokens_unpadded += _extra_rows()
        return super()._get_slot_mappings(
            max(num_tokens_padded, num_tokens_unpadded),
            num_reqs_padded,
            num_tokens_unpadded,
            ubatch_slices,
        )

    def _build_attention_metadata(
        self, num_tokens: int, num_reqs: int, *args: Any, **kwargs: Any
    ) -> Any:
        extra = _extra_rows()
        return super()._build_attention_metadata(
            num_tokens + extra, num_reqs + extra, *args, **kwargs
        )

    def _preprocess(
        self, scheduler_output: Any, num_input_tokens: int, intermediate_tensors: Any = None
    ) -> Any:
        inputs = super()._preprocess(scheduler_output, num_input_tokens, intermediate_tensors)
        if CURRENT.step is not None:
            # vLLM takes the rows behind the scheduled tokens for padding, and has set position 0.
            self._hyper_write_positions(CURRENT.step.plan)
        return inputs

    def _prepare_padding_mask(
        self, num_tokens_unpadded: int, num_tokens_padded: int
    ) -> torch.Tensor:
        # Rows marked as padding are dropped by the kernels of expert parallelism.
        return super()._prepare_padding_mask(num_tokens_unpadded + _extra_rows(), num_tokens_padded)

    # --- our own steps ----------------------------------------------------------------------------

    def _hyper_spec(self, request: str) -> Spec | None:
        params = self.requests[request].sampling_params
        known = self._hyper_specs.get(request)
        if known is None or known[0] is not params:
            known = (params, parse_spec(params.extra_args) if params is not None else None)
            self._hyper_specs[request] = known
        return known[1]

    def _hyper_plan(self, num_scheduled_tokens: np.ndarray) -> Plan | None:
        requests = self.input_batch.num_reqs
        tokens = int(num_scheduled_tokens.sum())
        candidates = []
        token = 0
        for index, request in enumerate(self.input_batch.req_ids):
            scheduled = int(num_scheduled_tokens[index])
            # A chunk of a prompt gives no token; one of several tokens is not a decoding step.
            if scheduled == 1 and not self.discard_request_mask.np[index]:
                spec = self._hyper_spec(request)
                if spec is not None:
                    position = int(self.input_batch.num_computed_tokens_cpu[index])
                    candidates.append(Candidate(index, token, position, spec))
            token += scheduled
        room = min(
            self.hyper_settings.rows, self.max_num_reqs - requests, self.max_num_tokens - tokens
        )
        return build_plan(candidates, requests, tokens, room)

    def _hyper_count(self, plan: Plan | None) -> None:
        stats = self.hyper_stats
        stats.forwards += 1
        if plan is not None:
            stats.refined_forwards += plan.count > 0
            stats.refined_tokens += len(plan.groups)
            stats.route_rows += plan.count
            stats.capped_rows += plan.capped
            stats.peak_rows = max(stats.peak_rows, plan.count)

    def _hyper_write_rows(self, plan: Plan) -> None:
        """Appends the extra rows to the inputs of this forward."""
        batch, extra = self.input_batch, plan.extra
        first, last = plan.requests, plan.requests + plan.count
        positions = np.array([row.candidate.position for row in extra])
        copies = self._hyper_write_blocks(plan)
        # Rows behind the requests are free: a new request writes them before they are read.
        batch.num_computed_tokens_cpu[first:last] = positions
        batch.num_prompt_tokens[first:last] = 0  # so that the rows do not count as prefill
        lengths = torch.from_numpy(positions + 1)
        self.optimistic_seq_lens_cpu[first:last] = lengths.to(self.optimistic_seq_lens_cpu.dtype)
        self.seq_lens[first:last] = lengths.to(self.device, self.seq_lens.dtype)
        ends = plan.tokens + 1 + np.arange(plan.count)
        self.query_start_loc.np[first + 1 : last + 1] = ends
        self.query_start_loc.np[last + 1 :].fill(ends[-1])
        self.query_start_loc.copy_to_gpu()
        # Token ids are taken on the device: asynchronous scheduling knows them nowhere else.
        roots = torch.tensor([row.candidate.token for row in extra], device=self.device)
        ids = self.input_ids.gpu
        ids[plan.tokens : plan.tokens + plan.count] = ids[roots]
        self._hyper_write_positions(plan)
        table = batch.block_table
        table.commit_block_table(last)
        table.compute_slot_mapping(
            last,
            self.query_start_loc.gpu[: last + 1],
            self.positions[: plan.tokens + plan.count],
        )
        copy_kv_cache_blocks_inplace(self.kv_caches, self.kv_cache_config.num_blocks, copies)

    def _hyper_write_positions(self, plan: Plan) -> None:
        roots = torch.tensor([row.candidate.token for row in plan.extra], device=self.device)
        self.positions[plan.tokens : plan.tokens + plan.count] = self.positions[roots]

    def _hyper_write_blocks(self, plan: Plan) -> list[KVCacheBlockCopy]:
        """Writes the block tables of the extra rows; returns what block is to be copied where."""
        tables = self.input_batch.block_table.block_tables
        copies = []
        for j, row in enumerate(plan.extra):
            for group, table in enumerate(tables):
                scratch = scratch_block(
                    self.kv_cache_config.num_blocks,
                    self.hyper_settings.rows,
                    len(tables),
                    j,
                    group,
                )
                rows = table.block_table.np
                blocks = block_row(
                    rows[row.candidate.request], row.candidate.position, table.block_size, scratch
                )
                newest = int(rows[row.candidate.request, len(blocks) - 1])
                copies.append(KVCacheBlockCopy(newest, scratch))
                rows[plan.requests + j, : len(blocks)] = blocks
        return copies


def _extra_rows() -> int:
    return 0 if CURRENT.step is None else CURRENT.step.plan.count
