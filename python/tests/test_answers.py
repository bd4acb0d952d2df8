import json
import pathlib

import pytest

import hyper_decode
from hyper_decode import equal, extract, grade, group, parse, verify


@pytest.mark.parametrize(
    ("gold", "answer", "verdict"),
    [
        (r"\frac{1}{2}", "0.5", "equal"),
        (r"\frac{1}{3}", "0.333", "not equal"),
        ("(0, 1)", "0 < x < 1", "equal"),
        ("2", "3", "not equal"),
        ("a large number", "many", "undecided"),
    ],
)
def test_equality_has_three_verdicts_and_a_reason(gold, answer, verdict):
    found = equal(gold, answer)
    assert found.verdict == verdict
    assert found.reason
    assert bool(found) == (verdict == "equal")
    assert equal(answer, gold).verdict == verdict


def test_equality_has_options():
    assert not equal("33.3", r"\frac{100}{3}")
    assert equal("33.3", r"\frac{100}{3}", rounded=True)
    assert equal("52", "42_{10}", base=8)
    with pytest.raises(hyper_decode.InvalidArgumentError, match="base is 99"):
        equal("1", "1", base=99)
    with pytest.raises(hyper_decode.InvalidArgumentError, match="either, natural, decimal"):
        equal("1", "1", bare_log="binary")
    with pytest.raises(TypeError):
        equal("1", "1", tolerance=0.1)


def cases(op):
    table = pathlib.Path(__file__).parents[2] / "tests/cases/answers.jsonl"
    rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["op"] == op]


def test_the_table_of_answers_is_compared_as_in_cpp():
    for case in cases("equal"):
        options = case.get("options", {})
        verdicts = case["verdict"] if isinstance(case["verdict"], list) else [case["verdict"]]
        assert equal(case["gold"], case["answer"], **options).verdict in verdicts, case


def test_the_table_of_answers_is_read_as_in_cpp():
    names = {
        "kind": "kind",
        "options": "choices",
        "finished": "finished",
        "opened_by_template": "opened_by_template",
        "reasoning_answers": "reasoning_answers",
        "box_or_label": "box_or_label",
        "fallbacks": "fallbacks",
    }
    for case in cases("extract"):
        options = {names[name]: case[name] for name in case if name in names}
        found = extract(case["text"], **options)
        assert found.answer == case["answer"], case
        for member in ("raw", "rule", "tentative", "confidence_percent"):
            if member in case:
                assert getattr(found, member) == case[member], case


def test_extraction_marks_the_place():
    text = "Ünïcode: the answer is \\boxed{7}. Good."
    found = extract(text)
    assert found.answer == "7"
    assert found.rule == "box"
    assert text[found.begin : found.end] == found.raw == "7"
    assert extract("no number here at all", fallbacks=False).answer is None
    assert extract("The answer is (c).", kind="choice", choices="A-D").answer == "C"
    with pytest.raises(hyper_decode.InvalidArgumentError, match="integer, math, choice, text"):
        extract("1", kind="poem")


def test_an_answer_in_the_reasoning_is_tentative():
    found = extract("<think>so \\boxed{4}")
    assert found.tentative and found.answer == "4" and found.final is None


@pytest.mark.parametrize(
    ("gold", "text", "kind", "verdict"),
    [
        ("95", "It is \\boxed{95}.", "integer", "right"),
        ("95", "It is \\boxed{96}.", "integer", "wrong"),
        (r"\frac{1}{2}", "so 0.5 \\boxed{0.5}", "math", "right"),
        ("B", "The answer is (B)", "choice", "right"),
        ("B", "The answer is (C)", "choice", "wrong"),
        ("Paris", "Answer: paris.", "text", "right"),
        ("Paris", "Answer: the capital of France", "text", "undecided"),
        ("7", "", "math", "wrong"),
    ],
)
def test_grades_have_three_verdicts_and_a_reason(gold, text, kind, verdict):
    found = grade(gold, text, kind)
    assert found.verdict == verdict
    assert found.reason
    assert bool(found) == (verdict == "right")


def test_a_gold_must_be_given():
    with pytest.raises(hyper_decode.InvalidArgumentError, match="gold is empty"):
        grade(" ", "5")


def test_groups_are_of_equal_answers():
    assert group(["1/2", "3", "0.5", r"\frac{6}{2}"]) == [0, 1, 0, 1]


def test_parse_and_verify_stand_in_for_math_verify():
    gold = parse(r"$\{1,3\} \cup \{2,4\}$")
    answer = parse(r"$\{1,2,3,4\}$")
    assert verify(gold, answer)
    assert not verify(parse("\\boxed{3}"), parse("I think it is 4"))
    assert parse("I do not know") == [] and not verify(parse("5"), [])
    assert verify("1/2", "0.5", strict=False, timeout_seconds=3)
