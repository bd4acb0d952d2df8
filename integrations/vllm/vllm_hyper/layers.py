"""The two layers that take part: the router's gate and the logits.

Both replace vLLM's own where a model asks for those by name. Without a step they do what vLLM's do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.library import Library
from vllm.model_executor.custom_op import op_registry_oot
from vllm.model_executor.layers.fused_moe.router.gate_linear import GateLinear
from vllm.model_executor.layers.logits_processor import LogitsProcessor
from vllm.utils.torch_utils import direct_register_custom_op

from vllm_hyper.step import CURRENT, MoeLayers

# The operator lives as long as this object.
_LIBRARY = Library("hyper", "FRAGMENT")


def _perturb(logits: Tensor, layer: int) -> None:
    step = CURRENT.step
    if step is not None and layer >= 0:
        step.perturb(logits, layer)


def _perturb_fake(logits: Tensor, layer: int) -> None:
    return


class HyperGate(GateLinear):
    """A router gate that writes the second-pass scores into the rows of extra routes."""

    moe_layer = -1  # the how manyth MoE layer; set once the model is loaded

    def forward(self, x: Tensor) -> Any:
        out = super().forward(x)
        logits = out[0] if isinstance(out, tuple) else out
        # An operator, so that torch.compile does not look inside: whether there is a step changes.
        torch.ops.hyper.perturb_(logits, self.moe_layer)
        return out


class HyperLogits(LogitsProcessor):
    """Aggregates the logits of a request's routes; returns one row per request."""

    def forward(
        self,
        lm_head: Any,
        hidden_states: Tensor,
        embedding_bias: Tensor | None = None,
        skip_gather: bool = False,
    ) -> Tensor | None:
        logits = super().forward(lm_head, hidden_states, embedding_bias, skip_gather)
        step = CURRENT.step
        if step is None or logits is None:
            return logits
        return step.aggregate(logits)


def register() -> None:
    """Makes models be built with the two layers. Must come before the model is loaded."""
    if "GateLinear" in op_registry_oot and op_registry_oot["GateLinear"] is HyperGate:
        return
    direct_register_custom_op(
        "perturb_", _perturb, mutates_args=["logits"], fake_impl=_perturb_fake, target_lib=_LIBRARY
    )
    GateLinear.register_oot(HyperGate)
    LogitsProcessor.register_oot(HyperLogits)


def adopt(model: torch.nn.Module) -> MoeLayers:
    """Numbers the gates of a loaded model. Raises ValueError where a layer cannot be refined."""
    from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner
    from vllm.model_executor.models.utils import extract_layer_index

    gates = {
        extract_layer_index(module.prefix): module
        for module in model.modules()
        if isinstance(module, HyperGate)
    }
    runners: dict[int, Any] = {  # what they have beyond vLLM's base class is looked at
        extract_layer_index(module.layer_name): module
        for module in model.modules()
        if isinstance(module, MoERunner)
    }
    if not runners:
        raise ValueError("vllm_hyper: the model has no mixture-of-experts layer to refine")
    if not any(isinstance(module, HyperLogits) for module in model.modules()):
        raise ValueError("vllm_hyper: the model computes its logits without LogitsProcessor")
    for number, runner in runners.items():
        reason = _why_not(runner, gates.get(number))
        if reason:
            raise ValueError(f"vllm_hyper: layer {number} cannot be refined: {reason}")
    numbers = tuple(sorted(runners))
    experts = {runner.router.global_num_experts for runner in runners.values()}
    if len(experts) > 1:
        raise ValueError(f"vllm_hyper: the layers differ in the number of experts: {experts}")
    for ordinal, number in enumerate(numbers):
        gates[number].moe_layer = ordinal
    return MoeLayers(numbers, experts.pop(), tuple(runners[n].router.top_k for n in numbers))


def _why_not(runner: Any, gate: HyperGate | None) -> str:
    """Why a layer cannot be refined; empty where it can."""
    if gate is None:
        return "its gate is not a plain GateLinear"
    if getattr(runner, "_fse_fuse_gate", False):
        return "its gate is fused with that of a shared expert"
    router = runner.router
    if getattr(router, "_hash_indices_table", None) is not None:
        return "it routes by a hash of the token, not by router logits"
    # Algorithm 2 takes the largest router logits for the chosen experts.
    if getattr(router, "use_grouped_topk", False) or "Grouped" in type(router).__name__:
        return "it chooses experts by groups"
    if getattr(router, "e_score_correction_bias", None) is not None:
        return "a bias takes part in its choice of experts"
    if getattr(router, "custom_routing_function", None) is not None:
        return "the model has its own routing function"
    if getattr(router, "scoring_func", "softmax") != "softmax":
        return f"its experts are scored by {router.scoring_func}, not by softmax"
    if gate.output_size != router.global_num_experts:
        return f"{gate.output_size} router logits for {router.global_num_experts} experts"
    return ""
