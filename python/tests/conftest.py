import os
import pathlib

import pytest

import hyper_decode

QUESTION = "Start with 12, add 7, multiply by 5. What is the result?"
SMALL = {"preset": "short", "width": 6, "warmup": 3, "seed": 7}


@pytest.fixture(scope="session")
def model():
    with hyper_decode.Model(threads=1) as loaded:
        yield loaded


@pytest.fixture(scope="session")
def program():
    """The program of the same build, where there is one."""
    path = os.environ.get("HYPER_PROGRAM", "")
    if not path or not pathlib.Path(path).exists():
        pytest.skip("HYPER_PROGRAM names no program")
    return path
