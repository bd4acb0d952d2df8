import json
import subprocess
import sys
import threading

import pytest
from conftest import QUESTION, SMALL

import hyper_decode


def program_json(program, *flags):
    command = [program, "run", QUESTION, "--threads", "1", "--no-log", "--json", *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize(
    "options",
    [
        {"width": 6, "warmup": 3},
        {"method": "sc", "width": 5},
        {"method": "deepconf", "width": 6, "warmup": 3},
        {"method": "hyper", "actions": ["none", "multi_token"], "width": 8, "warmup": 3},
        {"method": "roe", "width": 3},
        {"method": "sc", "width": 12, "stop": "0.8"},
    ],
)
@pytest.mark.parametrize("seed", [1, 2**63 + 11])
def test_equal_seeds_give_what_the_program_prints(model, program, options, seed):
    flags = ["--preset", "short", "--seed", str(seed)]
    for name, value in options.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        flags += ["--" + name.replace("_", "-"), text]
    expected = program_json(program, *flags)
    result = model.ask(QUESTION, preset="short", seed=seed, **options)
    # What the program alone knows: its engine.
    for member in ("engine", "determinism"):
        del expected[member]
    extra = {"winner", "text"}
    assert {name: result.json[name] for name in result.json if name not in extra} == expected
    assert set(result.json) - set(expected) == extra


def test_a_result_is_made_of_plain_values(model):
    result = model.ask(QUESTION, timing=True, **SMALL)
    assert result.answer == "95"
    assert result.seed == 7
    assert result.method == "hyper"
    assert not result.partial
    assert result.vote.answer == "95"
    assert result.vote is result.votes[result.vote_rule]
    assert sum(tally.paths for tally in result.vote.scores) <= len(result.paths)
    assert [path.id for path in result.paths] == list(range(len(result.paths)))
    assert sum(path.warmup for path in result.paths) == 3
    assert result.winner.answer == "95"
    assert result.text == result.winner.text.split("</think>")[1].strip()
    assert result.ledger.generated > 0
    assert result.options["width"] == 6
    assert result.question == QUESTION
    assert QUESTION in result.prompt
    assert result.timing["wall_s"] > 0
    assert [decision.step for decision in result.decisions] == list(range(len(result.decisions)))
    assert hyper_decode.Result.from_text(result.to_text()).json == result.json
    assert "answer='95'" in repr(result)


def test_a_conversation_is_a_question(model):
    asked = [{"role": "user", "content": QUESTION}]
    assert model.ask(asked, **SMALL).json == model.ask(QUESTION, **SMALL).json
    with pytest.raises(ValueError, match="no message"):
        model.ask([])


def test_a_notebook_shows_ballot_and_tree(model):
    result = model.ask(QUESTION, **SMALL)
    html = result._repr_html_()
    assert html.count("<title>") == len(result.paths)
    for tally in result.vote.scores:
        assert f"<td>{tally.answer}</td><td>{tally.paths}</td>" in html
    assert "<script" not in html


def test_html_escapes_what_a_model_wrote(model):
    report = json.loads(model.ask(QUESTION, **SMALL).to_text())
    report["answer"] = "<b>"
    report["paths"][0]["answer"] = "<script>"
    report["votes"][report["vote_rule"]]["scores"][0]["answer"] = "a & b"
    html = hyper_decode.Result(report)._repr_html_()
    assert "<script>" not in html
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html


def test_errors_are_exceptions_that_name_the_keyword(model):
    with pytest.raises(hyper_decode.InvalidArgumentError, match="width is 0"):
        model.ask(QUESTION, width=0)
    with pytest.raises(ValueError, match="'width'"):
        model.ask(QUESTION, width="many")
    with pytest.raises(hyper_decode.NotFoundError, match="magic"):
        model.ask(QUESTION, method="magic")
    with pytest.raises(hyper_decode.InvalidArgumentError, match="question is empty"):
        model.ask("  ")
    with pytest.raises(hyper_decode.InvalidArgumentError, match="^keep_percent has no effect"):
        model.ask(QUESTION, method="sc", keep_percent=30)
    with pytest.raises(TypeError, match="widht.*did you mean 'width'"):
        model.ask(QUESTION, widht=3)
    with pytest.raises(hyper_decode.HyperError):
        hyper_decode.Model("/no/such/model.gguf")
    with pytest.raises(TypeError, match="Model.*thread.*did you mean 'threads'"):
        hyper_decode.Model(thread=1)
    assert model.ask(QUESTION, **SMALL).answer == "95"


def test_no_server_is_a_connection_error():
    with pytest.raises(ConnectionError):
        hyper_decode.Remote("http://127.0.0.1:9/v1", connect_timeout=1, header=["A: b", "C: d"])


def test_questions_side_by_side_answer_as_alone(model):
    alone = [model.ask(QUESTION, **{**SMALL, "seed": seed}) for seed in range(4)]
    runs = [model.start(QUESTION, **{**SMALL, "seed": seed}) for seed in range(4)]
    together = [run.result() for run in runs]
    for one, other in zip(alone, together):
        assert one.votes == other.votes
        assert one.paths == other.paths


def test_another_thread_cancels(model):
    run = model.start(QUESTION, method="sc", preset="short", width=64, seed=1, records=True)
    threading.Timer(0.01, run.cancel, ["enough"]).start()
    result = run.result()
    assert run.done
    if result.partial:  # it may have been over already
        assert result.partial_reason.startswith("enough")


def test_a_run_that_is_cancelled_at_once_is_partial(model):
    blocker = model.start(QUESTION, method="sc", preset="short", width=32, seed=1)
    run = model.start(QUESTION, method="sc", preset="short", width=32, seed=2)
    run.cancel("not needed")
    result = run.result()
    assert result.partial and "not needed" in result.partial_reason
    assert not blocker.result().partial


def test_runs_that_wait_for_lanes_may_be_cancelled(model):
    options = {"method": "sc", "preset": "short", "width": 120}
    runs = [model.start(QUESTION, seed=seed, **options) for seed in range(4)]
    for run in runs[1:]:
        run.cancel()
    results = [run.result() for run in runs]
    assert not results[0].partial and all(result.partial for result in results[1:])
    assert model.ask(QUESTION, **SMALL).answer == "95"


def test_the_lock_is_free_while_it_decodes(model):
    run = model.start(QUESTION, method="sc", preset="short", width=64, seed=3)
    turns = 0
    while not run.done:
        turns += 1
    assert turns > 1
    assert run.result().answer is not None


def test_a_wait_may_end_before_the_run(model):
    run = model.start(QUESTION, method="sc", preset="short", width=64, seed=3)
    with pytest.raises(TimeoutError):
        run.result(timeout=0.0)
    assert run.result().answer is not None


def test_a_closed_model_answers_no_more():
    closed = hyper_decode.Model(threads=1)
    run = closed.start(QUESTION, method="sc", preset="short", width=64, seed=3)
    closed.close()
    with pytest.raises(hyper_decode.CancelledError):
        run.result()
    with pytest.raises(hyper_decode.CancelledError):
        closed.ask(QUESTION)
    closed.close()


def test_records_come_as_they_happen(model):
    run = model.start(QUESTION, records=True, **SMALL)
    records = list(run.records())
    result = run.result()
    kinds = [record["record"] for record in records]
    assert kinds.count("path") == len(result.paths)
    decisions = [record for record in records if record["record"] == "decision"]
    assert decisions == result.json["decisions"]


def test_ctrl_c_ends_the_run():
    script = f"""
import _thread, signal, threading, hyper_decode
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
model = hyper_decode.Model(threads=1)
threading.Timer(0.3, _thread.interrupt_main).start()
try:
    for seed in range(10000):
        model.ask({QUESTION!r}, method="sc", preset="short", width=64, seed=seed)
except KeyboardInterrupt:
    print("interrupted")
print(model.ask({QUESTION!r}, preset="short", width=4, warmup=2, seed=7).answer)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "95"], done.stderr


def test_a_program_ends_with_a_model_open():
    script = f"import hyper_decode; model = hyper_decode.Model(threads=1); model.start({QUESTION!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
