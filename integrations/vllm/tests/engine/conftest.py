"""One engine for all tests: its start takes most of a minute.

pytest integrations/vllm/tests/engine        in an environment with vLLM, the add-on and gguf
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent))
import checkpoint as checkpoints
import harness


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    checkpoints.write(harness.MODEL, folder)
    return folder


@pytest.fixture(scope="session")
def engine(checkpoint: Path) -> harness.Engine:
    return harness.Engine(harness.make_llm(str(checkpoint)))


@pytest.fixture(scope="session")
def oracle() -> harness.Oracle:
    return harness.Oracle()


@pytest.fixture(scope="session")
def runs() -> list[harness.Run]:
    return harness.committed_runs()


@pytest.fixture(scope="session")
def prompts() -> list[list[int]]:
    """The questions of the goldens as chats."""
    tokenizer = Tokenizer.from_file(str(harness.MODEL.with_name("tokenizer.json")))
    return [
        tokenizer.encode(f"<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n<think>\n").ids
        for q in harness.goldens.QUESTIONS
    ]
