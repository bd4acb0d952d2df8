"""The examples and the code of docs/python.md run as they stand."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))


def run(arguments, folder):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_study(program, path):
    command = [
        program, "eval", "--methods", "sc,hyper", "--questions", "2", "--width", "4", "--warmup",
        "2", "--levels", "1", "--threads", "1", "--seed", "3", "--study", str(path),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs(example, tmp_path, request):
    arguments = [example]
    if example.stem == "study":
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        make_study(request.getfixturevalue("program"), tmp_path / "runs.db")
        arguments.append("runs.db")
    assert run(arguments, tmp_path)


def code_of(page):
    """The Python of a page, each block after those before it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))


def test_the_code_of_the_page_runs(tmp_path, program):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    make_study(program, tmp_path / "runs.db")
    script = tmp_path / "page.py"
    script.write_text(code_of("python.md"))
    assert "95" in run([script], tmp_path)


def test_the_code_of_the_page_on_methods_runs(tmp_path):
    code = code_of("your-own-method.md")
    script = tmp_path / "page.py"
    script.write_text(code)
    assert "95 after 3 paths" in run([script], tmp_path)
    # The method of the page is the example's, and so are its suite, grader and table.
    for name, begin, end in (
        ("esc", "@hyper_decode.register\n", "model ="),
        ("estimates", "hyper_decode.register_suite", None),
    ):
        example = (ROOT / f"python/examples/{name}.py").read_text(encoding="utf-8")
        first = code.index(begin)
        assert code[first : code.index(end, first) if end else None].strip() in example
