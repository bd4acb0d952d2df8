import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

import pytest
from conftest import QUESTION

import hyper_decode
from hyper_decode import Method

HARD = (
    "Tara has 9 shelves with 27 books each. Pia brings 6 packs of 8 books. Tara gives away 119. "
    "Then the number grows to 12 times as many. How many books does Tara have now?"
)


class Consistency(Method):
    """Independent paths, all at once."""

    name = "my-sc"

    def start(self, pool):
        pool.open(pool.option("width"))
        pool.grant_all(pool.option("interval"))

    def on_settled(self, pool):
        pool.grant_all(pool.option("interval"))


@pytest.fixture(scope="module")
def early_stop():
    path = pathlib.Path(__file__).parents[1] / "examples/esc.py"
    spec = importlib.util.spec_from_file_location("esc", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EarlyStop


@pytest.mark.parametrize("seed", range(3))
def test_self_consistency_in_python_is_the_built_in_one(model, seed):
    options = {"preset": "short", "width": 7, "seed": seed}
    own = model.ask(HARD, method=Consistency, **options)
    built_in = model.ask(HARD, method="sc", **options)
    assert own.method == "my-sc"
    assert own.votes == built_in.votes
    assert own.paths == built_in.paths
    assert own.ledger == built_in.ledger


@pytest.mark.parametrize("seed", range(4))
def test_esc_in_python_is_the_built_in_one(model, early_stop, seed):
    options = {"preset": "short", "width": 12, "esc_window": 3, "seed": seed}
    own = model.ask(HARD, method=early_stop, **options)
    built_in = model.ask(HARD, method="esc", **options)
    assert own.votes == built_in.votes
    assert [path.text for path in own.paths] == [path.text for path in built_in.paths]


def test_a_method_is_known_by_its_name(model, early_stop):
    listed = hyper_decode.methods()
    assert listed["my-esc"] == "Windows of paths until all answers of one window agree."
    assert "hyper" in listed
    assert model.ask(QUESTION, method="my-esc", preset="short", seed=1).answer == "95"
    with pytest.raises(hyper_decode.InvalidArgumentError, match="keep_percent has no effect"):
        model.ask(QUESTION, method="my-esc", keep_percent=3)


def test_a_class_that_is_asked_with_is_nobody_elses(model):
    first = type("First", (Consistency,), {"name": "same-name", "defaults": {"width": 3}})
    second = type("Second", (Consistency,), {"name": "same-name", "defaults": {"width": 5}})
    runs = [
        model.start(HARD, method=method, preset="short", seed=1) for method in (first, second) * 2
    ]
    assert [len(run.result().paths) for run in runs] == [3, 5, 3, 5]
    assert "same-name" not in hyper_decode.methods()
    with pytest.raises(hyper_decode.NotFoundError, match="same-name"):
        model.ask(HARD, method="same-name")
    nameless = model.ask(QUESTION, method=type("Nameless", (Consistency,), {"name": ""}), width=2)
    assert nameless.method == "Nameless"
    with pytest.raises(hyper_decode.InvalidArgumentError, match="class of your own"):
        model.ask(QUESTION, method=first, reward=lambda steps: [0.0] * len(steps))


def test_names_that_are_taken_or_wrong_are_refused():
    for name, words in (("sc", "built in"), ("My Method", "no name of a method")):
        with pytest.raises(hyper_decode.InvalidArgumentError, match=words):
            hyper_decode.register(type("Named", (Consistency,), {"name": name}))
    with pytest.raises(hyper_decode.InvalidArgumentError, match="'magic'"):
        hyper_decode.register(type("Based", (Consistency,), {"base": "magic"}))
    with pytest.raises(hyper_decode.InvalidArgumentError, match="colour"):
        hyper_decode.register(type("Default", (Consistency,), {"defaults": {"colour": 1}}))


def test_defaults_and_arguments_of_the_constructor(model):
    class Some(Consistency):
        name = "some"
        defaults = {"vote": "confidence", "vote_tentative": False}

        def __init__(self, count):
            self.count = count

        def start(self, pool):
            pool.open(self.count)
            pool.grant_all(200)

    hyper_decode.register(Some, count=3)
    result = model.ask(QUESTION, method="some", preset="short")
    assert len(result.paths) == 3
    assert result.vote_rule == "confidence"
    assert result.options["vote-tentative"] is False


def test_votes_rules_and_weights_are_its_own(model):
    class Longest(Consistency):
        name = "longest"
        base = "bon"

        def vote_rule(self, pool):
            return "best"

        def weight(self, pool, path):
            return path.length

        def votes(self, pool, path):
            return path.id != 0

    result = model.ask(HARD, method=Longest, preset="short", width=6, seed=3)
    assert result.vote_rule == "best"
    voters = [path for path in result.paths[1:] if path.answer is not None]
    longest = max(path.tokens for path in voters)
    assert result.answer in {path.answer for path in voters if path.tokens == longest}
    assert sum(tally.paths for tally in result.votes["majority"].scores) == len(voters)


def test_ends_and_tokens_are_told(model):
    told = []

    class Told(Consistency):
        name = "told"

        def on_token(self, pool, path):
            told.append(("token", path.id))

        def on_finish(self, pool, path):
            told.append(("finish", path.id))
            assert not path.running and path.status == "finished"
            assert re.search(r"boxed", path.text)

    result = model.ask(QUESTION, method=Told, preset="short", width=3)
    assert sorted(id for kind, id in told if kind == "finish") == [0, 1, 2]
    assert sum(kind == "token" for kind, _ in told) >= result.ledger.generated


def test_paths_end_fork_and_go_on_with_words(model):
    class Busy(Consistency):
        name = "busy"

        def start(self, pool):
            first, second = pool.open(2)
            pool.grant_all(6)

        def on_settled(self, pool):
            if len(pool.paths) == 2:
                first, second = pool.running
                pool.finish(second, reason="not needed")
                child = pool.fork(first, step=0, child=1)
                assert child.parent == first.id and child.fork_position == 6
                assert child != first and first == pool.paths[0]
                pool.extend(child, " So")
                pool.notice("a fork")
            pool.grant_all(100)

    result = model.ask(QUESTION, method=Busy, preset="short")
    assert [path.status for path in result.paths] == ["finished", "pruned", "finished"]
    assert result.paths[1].reason == "not needed"
    assert result.paths[2].parent == 0
    assert "a fork" in result.warnings


@pytest.mark.parametrize(
    "call", ["start", "on_settled", "done", "on_token", "on_finish", "vote_rule", "weight", "votes"]
)
def test_an_exception_ends_the_run_and_is_its_cause(model, call):
    def fails(self, *_):
        raise ZeroDivisionError("never again")

    failing = type("Failing", (Consistency,), {"name": "failing", "base": "bon", call: fails})
    with pytest.raises(hyper_decode.InternalError, match=f"failing.{call} raised Zero") as caught:
        model.ask(QUESTION, method=failing, preset="short", width=2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert model.ask(QUESTION, preset="short", width=4, seed=7).answer == "95"


def test_a_constructor_that_fails_is_an_error(model):
    def fails(self):
        raise ValueError("no")

    failing = type("Failing", (Consistency,), {"name": "unmade", "__init__": fails})
    with pytest.raises(hyper_decode.InternalError, match="unmade"):
        model.ask(QUESTION, method=failing, preset="short")


def test_a_method_cannot_wait_for_its_own_model(model):
    runs = []

    class Asking(Consistency):
        name = "asking"

        def start(self, pool):
            super().start(pool)
            runs.append(model.start(QUESTION, preset="short", seed=7))
            for wait in (runs[0].result, lambda: next(runs[0].records())):
                with pytest.raises(RuntimeError, match="cannot wait for a run of the model"):
                    wait()
            model.ask(QUESTION)

    with pytest.raises(hyper_decode.InternalError, match="asking.start raised RuntimeError"):
        model.ask(QUESTION, method=Asking, preset="short", width=2)
    assert runs[0].result(timeout=60).answer == "95"


def test_a_model_closed_by_its_method_ends_the_run():
    other = hyper_decode.Model(threads=1)

    class Closing(Consistency):
        name = "closing"

        def on_settled(self, pool):
            other.close()
            pool.grant_all(1)

    with pytest.raises(hyper_decode.CancelledError, match="closed"):
        other.ask(HARD, method=Closing, width=2)
    other.close()


def test_a_fault_of_the_package_ends_the_model_and_not_the_process(monkeypatch):
    other = hyper_decode.Model(threads=1)
    monkeypatch.setattr("hyper_decode._methods.failure", lambda *_: 1 / 0)
    failing = type("Failing", (Consistency,), {"name": "faulty", "on_settled": lambda *_: 1 / 0})
    for method in (failing, "sc"):
        with pytest.raises(hyper_decode.InternalError, match="(?s)has failed: .*ZeroDivision"):
            other.ask(QUESTION, method=method, width=2)


def test_the_pool_is_there_inside_the_calls_only(model):
    kept = []

    class Keeper(Consistency):
        name = "keeper"

        def start(self, pool):
            super().start(pool)
            kept.extend([pool, pool.paths[0]])

        def done(self, pool):
            try:
                pool.grant_all(1)
            except hyper_decode.InternalError as error:
                kept.append(str(error))
            return not pool.running

    model.ask(QUESTION, method=Keeper, preset="short", width=2)
    pool, path, words = kept[:3]
    assert "change nothing" in words
    for use in (lambda: pool.paths, lambda: path.text, lambda: pool.open()):
        with pytest.raises(hyper_decode.InternalError, match="inside the calls"):
            use()


def test_a_reward_in_python_values_the_steps(model):
    seen = []

    def right_steps(steps):
        seen.extend(steps)
        return [1.0 if "=" in step["text"] else 0.1 for step in steps]

    options = {"method": "rebase", "preset": "short", "width": 4, "step_tokens": 16, "seed": 1}
    result = model.ask(QUESTION, reward=right_steps, **options)
    assert result.answer is not None
    assert seen and all(set(step) == {"path", "before", "text"} for step in seen)
    with pytest.raises(hyper_decode.NotFoundError, match="takes no scorer"):
        model.ask(QUESTION, method="sc", reward=right_steps)
    with pytest.raises(hyper_decode.InternalError, match="0 numbers for"):
        model.ask(QUESTION, reward=lambda steps: [], **options)
    with pytest.raises(hyper_decode.InternalError, match="raised KeyError"):
        model.ask(QUESTION, reward=lambda steps: {}["x"], **options)


def test_a_model_may_go_while_its_method_runs():
    script = f"""
import gc, hyper_decode
class Endless(hyper_decode.Method):
    name = "endless"
    def start(self, pool):
        pool.open(30)
        pool.grant_all(1)
    def on_settled(self, pool):
        pool.grant_all(1)
model = hyper_decode.Model(threads=1)
model.start({QUESTION!r}, method=Endless)
del model
gc.collect()
print("gone")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "gone\n" and done.returncode == 0, done.stderr


def run_program(command, **environment):
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HYPER_PYTHON": sys.executable, **environment},
    )


@pytest.mark.parametrize("door", ["module", "program"])
def test_the_program_takes_a_method_in_python(door, request, early_stop):
    example = str(pathlib.Path(__file__).parents[1] / "examples/esc.py")
    start = [sys.executable, "-m", "hyper_decode"]
    if door == "program":
        start = [request.getfixturevalue("program")]
    listed = run_program([*start, "help", "methods", "--plugin", example])
    assert "  my-esc " in listed.stdout, listed.stderr
    arguments = ["run", "--no-log", "--threads", "1", "--preset", "short", "--width", "12"]
    arguments += ["--esc-window", "3", "--seed", "5", "--json", HARD]
    own = run_program([*start, *arguments, f"--plugin={example}", "--method", "my-esc"])
    built_in = run_program([*start, *arguments, "--method", "esc"])
    assert own.returncode == built_in.returncode == 0, own.stderr + built_in.stderr
    assert own.stdout == built_in.stdout.replace('"method": "esc"', '"method": "my-esc"')


def test_a_study_of_a_method_in_python(tmp_path):
    example = str(pathlib.Path(__file__).parents[1] / "examples/esc.py")
    study = tmp_path / "runs.db"
    done = run_program(
        [
            sys.executable, "-m", "hyper_decode", "eval", "--plugin", example, "--methods",
            "esc,my-esc", "--questions", "3", "--levels", "1", "--width", "6", "--threads", "1",
            "--seed", "2", "--study", str(study),
        ]
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with hyper_decode.Study(study) as opened:
        answers = {run: opened.items(run).columns["answer"] for run in ("esc", "my-esc")}
    assert len(answers["esc"]) == 3 and answers["esc"] == answers["my-esc"]


@pytest.mark.parametrize("beside, found", [(True, "theirs"), (False, "none")])
def test_a_plugin_imports_what_lies_beside_it(tmp_path, monkeypatch, program, beside, found):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/mine.py").write_text(
        "try:\n    from words import WORD\nexcept ImportError:\n    WORD = 'none'\n"
        "import sys; sys.stderr.write(f'found {WORD}.')\n"
    )
    folder = tmp_path / "plugins" if beside else tmp_path  # the working folder
    (folder / "words.py").write_text("WORD = 'theirs'\n")
    monkeypatch.chdir(tmp_path)
    done = run_program([program, "methods", "--plugin", "plugins/mine.py"])
    assert f"found {found}." in done.stderr


def test_plugins_that_are_missing_or_broken_are_errors(tmp_path):
    start = [sys.executable, "-m", "hyper_decode", "run", "--plugin"]
    assert "does not exist" in run_program([*start, "none.py", "1 + 1"]).stderr
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0")
    assert "ZeroDivisionError" in run_program([*start, str(broken), "1 + 1"]).stderr
    assert "takes a file" in run_program(start).stderr
    assert "does not exist" in run_program([*start, "none.so", "1 + 1"]).stderr


def test_the_server_serves_a_method_in_python():
    example = str(pathlib.Path(__file__).parents[1] / "examples/esc.py")
    command = [sys.executable, "-m", "hyper_decode", "serve", "--plugin", example, "--port", "0"]
    server = subprocess.Popen(
        [*command, "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        url = re.search(r"http://\S+", server.stdout.readline()).group().rstrip("/")
        with urllib.request.urlopen(f"{url}/v1/models", timeout=60) as reply:
            names = [model["id"] for model in json.load(reply)["data"]]
        (name,) = [name for name in names if name.endswith(":my-esc")]
        body = {
            "model": name,
            "messages": [{"role": "user", "content": QUESTION}],
            "hyper": {"preset": "short", "width": 6, "esc-window": 3, "seed": 1},
        }
        request = urllib.request.Request(
            f"{url}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as reply:
            answer = json.load(reply)
        assert "95" in answer["choices"][0]["message"]["content"]
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0
