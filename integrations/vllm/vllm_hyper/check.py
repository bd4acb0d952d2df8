"""What is refused when a server starts, with the reason.

Eight methods of the V1 runner and one of the scheduler are replaced; most are private. So only the
version that they were read from is taken, and their parameters are compared.
"""

from __future__ import annotations

import inspect
from typing import Any

from vllm_hyper.settings import read_settings

VERSION = "0.32"
SPEC_CHECK = "vllm_hyper:SpecCheck"

# Method of the runner: its parameters.
RUNNER_METHODS = {
    "_prepare_inputs": "self scheduler_output num_scheduled_tokens",
    "_determine_batch_execution_and_padding": (
        "self num_tokens num_reqs num_scheduled_tokens_np max_num_scheduled_tokens "
        "use_cascade_attn allow_microbatching force_eager force_uniform_decode force_has_lora "
        "force_num_active_loras num_encoder_reqs"
    ),
    "_get_slot_mappings": (
        "self num_tokens_padded num_reqs_padded num_tokens_unpadded ubatch_slices"
    ),
    "_build_attention_metadata": (
        "self num_tokens num_reqs max_query_len num_tokens_padded num_reqs_padded ubatch_slices "
        "logits_indices max_num_sampled_tokens use_spec_decode for_cudagraph_capture "
        "num_scheduled_tokens slot_mappings"
    ),
    "_prepare_padding_mask": "self num_tokens_unpadded num_tokens_padded",
    "_preprocess": "self scheduler_output num_input_tokens intermediate_tensors",
    "execute_model": "self scheduler_output intermediate_tensors",
    "sample_tokens": "self grammar_output",
}
SCHEDULER_METHODS = {
    "_reserve_prefill_lookahead": "self request num_computed_tokens num_new_tokens",
}


def check_version(version: str) -> None:
    if version != VERSION and not version.startswith(VERSION + "."):
        raise ValueError(
            f"vllm_hyper: this is vLLM {version}; the add-on replaces private methods of vLLM "
            f"{VERSION} and takes no other version"
        )


def check_methods(owner: type, methods: dict[str, str]) -> None:
    for name, wanted in methods.items():
        method = getattr(owner, name, None)
        found = " ".join(inspect.signature(method).parameters) if method is not None else "nothing"
        if found != wanted:
            raise ValueError(
                f"vllm_hyper: {owner.__name__}.{name} has changed; it takes ({found}), the add-on "
                f"was written for ({wanted})"
            )


def check_runner(runner: type) -> None:
    check_methods(runner, RUNNER_METHODS)


def check_scheduler(scheduler: type) -> None:
    check_methods(scheduler, SCHEDULER_METHODS)


def reasons(config: Any) -> list[str]:
    """Why a server with this VllmConfig cannot refine tokens; empty where it can."""
    model, parallel, cache = config.model_config, config.parallel_config, config.cache_config
    kinds = [
        (config.speculative_config is not None, "speculative decoding"),
        (config.lora_config is not None, "LoRA"),
        (model.is_multimodal_model or model.uses_mrope, "a multimodal model or M-RoPE"),
        (model.enable_prompt_embeds, "--enable-prompt-embeds"),
        (model.runner_type != "generate", "a model that does not generate"),
        (model.is_encoder_decoder, "an encoder-decoder model"),
        (model.is_diffusion, "a diffusion model"),
        (model.is_hybrid or model.is_attention_free, "a model with Mamba or linear attention"),
        (parallel.pipeline_parallel_size > 1, "pipeline parallelism"),
        (parallel.prefill_context_parallel_size > 1, "prefill context parallelism"),
        (parallel.decode_context_parallel_size > 1, "decode context parallelism"),
        (parallel.use_ubatching, "dual batch overlap"),
        (parallel.use_sequence_parallel_moe, "sequence-parallel experts"),
        (bool(parallel.enable_batch_sharded_sampling), "--enable-batch-sharded-sampling"),
        (cache.kv_sharing_fast_prefill, "--kv-sharing-fast-prefill"),
        (config.kv_transfer_config is not None, "a KV connector"),
    ]
    found = [f"{what} does not work with extra rows" for refused, what in kinds if refused]
    if config.use_v2_model_runner:
        found.append("the rows are added to the V1 model runner; set VLLM_USE_V2_MODEL_RUNNER=0")
    return found + _flag_reasons(config)


def _flag_reasons(config: Any) -> list[str]:
    """Flags that are missing or leave no room."""
    found = []
    scheduler, rows = config.scheduler_config, read_settings(config.additional_config).rows
    if SPEC_CHECK not in (config.model_config.logits_processors or []):
        found.append(f"add --logits-processors {SPEC_CHECK}, which refuses wrong requests")
    if not _is_ours(config.parallel_config.worker_cls, ("CPUWorker", "GPUWorker")):
        found.append("add --worker-cls vllm_hyper.CPUWorker (or GPUWorker)")
    if not _is_ours(scheduler.scheduler_cls, ("Scheduler", "AsyncScheduler")):
        found.append("add --scheduler-cls vllm_hyper.Scheduler (or AsyncScheduler)")
    active = scheduler.max_num_active_seqs or scheduler.max_num_seqs
    if scheduler.max_num_seqs - active < rows:
        found.append(
            f"--max-num-seqs {scheduler.max_num_seqs} less --max-num-active-seqs {active} leaves "
            f"room for {scheduler.max_num_seqs - active} extra rows, not for {rows}"
        )
    batched = scheduler.max_num_batched_tokens
    scheduled = scheduler.max_num_scheduled_tokens or batched
    if batched - scheduled < rows:
        found.append(
            f"--max-num-batched-tokens {batched} less --max-num-scheduled-tokens {scheduled} "
            f"leaves room for {batched - scheduled} extra rows, not for {rows}"
        )
    return found


def _is_ours(name: object, classes: tuple[str, ...]) -> bool:
    """Whether a flag names one of our classes, or a subclass of one."""
    if isinstance(name, str):
        if name in {f"vllm_hyper.{one}" for one in classes}:
            return True
        from vllm.utils.import_utils import resolve_obj_by_qualname

        if name == "auto":
            return False
        name = resolve_obj_by_qualname(name)
    bases = getattr(name, "__mro__", ())
    return any(b.__module__.startswith("vllm_hyper.") and b.__name__ in classes for b in bases)


def check_config(config: Any) -> None:
    """Raises ValueError with all reasons."""
    import vllm

    check_version(vllm.__version__)
    found = reasons(config)
    if found:
        raise ValueError("vllm_hyper cannot refine tokens on this server: " + "; ".join(found))
