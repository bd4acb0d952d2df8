import json
import pathlib
import subprocess
import sys

import pytest

import hyper_decode

ESTIMATES = pathlib.Path(__file__).parents[1] / "examples/estimates.py"


def command(*arguments, plugin=ESTIMATES):
    """A command of the program, with a plugin."""
    plugins = [] if plugin is None else ["--plugin", str(plugin)]
    return subprocess.run(
        [sys.executable, "-m", "hyper_decode", *map(str, arguments), *plugins],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Answers to the example's suite, and what `hyper eval` printed."""
    path = tmp_path_factory.mktemp("estimates") / "study.db"
    done = command(
        "eval", "--suite", "estimates", "--methods", "sc", "--width", 4, "--align", "off",
        "--threads", 1, "--seed", 7, "--table", "results,spending", "--json", "--study", path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def test_suite_grader_and_table_work_in_eval(study):
    _, (results, spending) = study
    row = results["rows"][0]
    assert (row["Suite"], row["Questions"], row["Acc"]) == ("estimates", 6, 100)
    assert spending["name"] == "spending"
    assert spending["title"] == "Effective tokens of an answer"
    [line] = spending["rows"]
    assert line["Row"] == "sc"
    assert line["Right"] == pytest.approx(row["Effective"])
    assert line["Other"] is None


def test_the_rules_would_grade_otherwise(study, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(study[0].read_bytes())
    tables = ("eval", "--report-only", "--suite", "estimates", "--table", "votes", "--study", copy)
    refused = command(*tables, plugin=None)
    assert "grader 'nearest-ten 1', which is not known here" in refused.stderr
    assert "95" in command("grade", copy, plugin=None).stdout
    assert command(*tables, plugin=None).returncode == 0
    again = json.loads(command("grade", copy, "--json").stdout)
    assert {change["after"] for change in again["changes"]} == {"right"}


def test_a_report_has_the_table(study):
    with hyper_decode.Study(study[0]) as opened:
        assert "Effective tokens of an answer" in opened.report(plugins=[ESTIMATES]).html
        with pytest.raises(hyper_decode.InvalidArgumentError, match="nearest-ten 1"):
            opened.report()


def graded_by(body, study, folder, *options):
    """`hyper grade` of a copy of the study, by a grader that returns this."""
    copy = folder / "copy.db"
    copy.write_bytes(study[0].read_bytes())
    plugin = folder / "own.py"
    plugin.write_text(
        "import hyper_decode\n"
        "@hyper_decode.register_grader('own', ['estimates'])\n"
        f"def own(asked):\n    return {body}\n"
    )
    return command("grade", copy, *options, plugin=plugin)


@pytest.mark.parametrize(
    "verdict, graded",
    [
        ("True", "right"),
        ("False", "wrong"),
        ("None", "undecided"),
        ("hyper_decode.equal('1', '1')", "right"),
        ("hyper_decode.grade('1', '\\\\boxed{2}')", "wrong"),
        ("hyper_decode.equal('1', 'x(')", "undecided"),
    ],
)
def test_what_a_grader_returns(study, tmp_path, verdict, graded):
    report = json.loads(graded_by(verdict, study, tmp_path, "--json").stdout)
    changed = {change["after"] for change in report["changes"]}
    assert changed == (set() if graded == "right" else {graded})


@pytest.mark.parametrize(
    "body, message",
    [
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
        ("1", "a grader returns True, False or None, not 1"),
    ],
)
def test_an_exception_in_a_grader_ends_the_command(study, tmp_path, body, message):
    done = graded_by(body, study, tmp_path)
    assert done.returncode != 0
    assert "grader 'own' failed on question row-1 of suite estimates" in done.stderr
    assert message in done.stderr


def test_what_cannot_work_is_refused():
    with pytest.raises(hyper_decode.InvalidArgumentError, match="'tinymath' is built in"):
        hyper_decode.register_suite(
            {"name": "tinymath", "title": "t", "answer": "math", "prompt": "{question}",
             "preset": "short"}, [],
        )  # fmt: skip
    with pytest.raises(hyper_decode.InvalidArgumentError, match="table 'results' is built in"):
        hyper_decode.register_table("results")(lambda rows: {})
    with pytest.raises(hyper_decode.InvalidArgumentError, match="names no suites"):
        hyper_decode.register_grader("idle", [])(lambda asked: True)


def test_an_exception_in_the_questions_or_a_table_ends_the_command(study, tmp_path):
    plugin = tmp_path / "own.py"
    plugin.write_text(
        "import hyper_decode\n"
        "suite = {'name': 'own', 'title': 't', 'answer': 'math', 'prompt': '{question}',\n"
        "         'preset': 'short'}\n"
        "hyper_decode.register_suite(suite, lambda: 1 / 0)\n"
        "hyper_decode.register_table('odd')(lambda rows: {'title': 'no columns'})\n"
    )
    done = command("eval", "--suite", "own", "--study", tmp_path / "s.db", plugin=plugin)
    assert "the function of the suite's questions raised ZeroDivisionError" in done.stderr
    done = command(
        "eval", "--report-only", "--suite", "own", "--study", study[0], "--table", "odd",
        plugin=plugin,
    )  # fmt: skip
    assert "table 'odd' failed: it returned no dict with a list of \"columns\"" in done.stderr
