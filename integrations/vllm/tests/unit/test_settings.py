"""The operator's settings, and what is refused at start."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any

from vllm_hyper.check import SPEC_CHECK, check_methods, check_version, reasons
from vllm_hyper.settings import Settings, read_settings


class SettingsTest(unittest.TestCase):
    def test_read(self) -> None:
        self.assertEqual(read_settings({"hyper": {"rows": 48}, "other": 1}), Settings(48))

    def test_refused(self) -> None:
        for additional, word in [
            (None, "--additional-config"),
            ({}, "--additional-config"),
            ({"hyper": 48}, "--additional-config"),
            ({"hyper": {}}, "rows is None"),
            ({"hyper": {"rows": 0}}, "rows is 0"),
            ({"hyper": {"rows": True}}, "rows is True"),
            ({"hyper": {"rows": "48"}}, "rows is '48'"),
            ({"hyper": {"rows": 4, "wide": 1}}, "unknown settings ['wide']"),
        ]:
            with self.subTest(additional=additional), self.assertRaises(ValueError) as caught:
                read_settings(additional)
            self.assertIn(word, str(caught.exception))


class VersionTest(unittest.TestCase):
    def test_only_the_version_it_was_written_for(self) -> None:
        for version in ("0.32", "0.32.0", "0.32.1.post1"):
            check_version(version)
        for version in ("0.3", "0.31.9", "0.320.0", "0.33.0", "1.0"):
            with self.subTest(version=version), self.assertRaises(ValueError) as caught:
                check_version(version)
            self.assertIn(version, str(caught.exception))


class SignatureTest(unittest.TestCase):
    class Owner:
        def method(self, one: int, two: int = 2, **others: int) -> None: ...

    def test_same_parameters(self) -> None:
        check_methods(self.Owner, {"method": "self one two others"})

    def test_changed_or_lost(self) -> None:
        for methods, word in [
            ({"method": "self one"}, "(self one two others)"),
            ({"method": "self two one others"}, "has changed"),
            ({"gone": "self"}, "takes (nothing)"),
        ]:
            with self.assertRaises(ValueError) as caught:
                check_methods(self.Owner, methods)
            self.assertIn(word, str(caught.exception))


def config(**changes: Any) -> Any:
    """A VllmConfig of a server that may refine; `part__field=value` changes it."""
    parts: dict[str, dict[str, Any]] = {
        "model": dict(
            is_multimodal_model=False,
            uses_mrope=False,
            enable_prompt_embeds=False,
            runner_type="generate",
            is_encoder_decoder=False,
            is_diffusion=False,
            is_hybrid=False,
            is_attention_free=False,
            logits_processors=[SPEC_CHECK],
        ),
        "parallel": dict(
            pipeline_parallel_size=1,
            prefill_context_parallel_size=1,
            decode_context_parallel_size=1,
            use_ubatching=False,
            use_sequence_parallel_moe=False,
            enable_batch_sharded_sampling=None,
            worker_cls="vllm_hyper.CPUWorker",
        ),
        "cache": dict(kv_sharing_fast_prefill=False),
        "scheduler": dict(
            max_num_seqs=64,
            max_num_active_seqs=16,
            max_num_batched_tokens=1024,
            max_num_scheduled_tokens=960,
            scheduler_cls="vllm_hyper.Scheduler",
        ),
    }
    outer: dict[str, Any] = dict(
        speculative_config=None,
        lora_config=None,
        kv_transfer_config=None,
        use_v2_model_runner=False,
        additional_config={"hyper": {"rows": 48}},
    )
    for name, value in changes.items():
        part, _, field = name.partition("__")
        if field:
            parts[part][field] = value
        else:
            outer[name] = value
    inner = {f"{name}_config": SimpleNamespace(**fields) for name, fields in parts.items()}
    return SimpleNamespace(**inner, **outer)


class ReasonsTest(unittest.TestCase):
    def test_none(self) -> None:
        self.assertEqual(reasons(config()), [])

    def test_each_with_its_reason(self) -> None:
        cases: list[tuple[str, Any, str]] = [
            ("speculative_config", object(), "speculative decoding"),
            ("lora_config", object(), "LoRA"),
            ("kv_transfer_config", object(), "KV connector"),
            ("use_v2_model_runner", True, "VLLM_USE_V2_MODEL_RUNNER=0"),
            ("model__is_multimodal_model", True, "multimodal"),
            ("model__uses_mrope", True, "M-RoPE"),
            ("model__enable_prompt_embeds", True, "prompt-embeds"),
            ("model__runner_type", "pooling", "does not generate"),
            ("model__is_encoder_decoder", True, "encoder-decoder"),
            ("model__is_diffusion", True, "diffusion"),
            ("model__is_hybrid", True, "Mamba"),
            ("model__is_attention_free", True, "Mamba"),
            ("model__logits_processors", None, "--logits-processors vllm_hyper:SpecCheck"),
            ("model__logits_processors", ["other:One"], "--logits-processors"),
            ("parallel__pipeline_parallel_size", 2, "pipeline"),
            ("parallel__prefill_context_parallel_size", 2, "prefill context"),
            ("parallel__decode_context_parallel_size", 2, "decode context"),
            ("parallel__use_ubatching", True, "dual batch overlap"),
            ("parallel__use_sequence_parallel_moe", True, "sequence-parallel"),
            ("parallel__enable_batch_sharded_sampling", True, "batch-sharded"),
            ("parallel__worker_cls", object, "--worker-cls"),
            ("cache__kv_sharing_fast_prefill", True, "kv-sharing"),
            ("scheduler__scheduler_cls", object, "--scheduler-cls"),
            ("scheduler__max_num_active_seqs", 17, "room for 47 extra rows, not for 48"),
            ("scheduler__max_num_active_seqs", None, "room for 0 extra rows"),
            ("scheduler__max_num_scheduled_tokens", 977, "room for 47 extra rows, not for 48"),
            ("scheduler__max_num_scheduled_tokens", None, "room for 0 extra rows"),
        ]
        for name, value, word in cases:
            with self.subTest(name=name):
                found = reasons(config(**{name: value}))
                self.assertEqual(len(found), 1, found)
                self.assertIn(word, found[0])

    def test_all_at_once(self) -> None:
        self.assertEqual(len(reasons(config(lora_config=1, speculative_config=1))), 2)


if __name__ == "__main__":
    unittest.main()
