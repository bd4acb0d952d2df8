import inspect
import json
import pathlib
import re

import hyper_decode
from hyper_decode import _options


def test_signatures_have_every_option_of_the_tables():
    for function, of, more in (
        (hyper_decode.Model.ask, "question", {"self", "question"}),
        (hyper_decode.Model.start, "question", {"self", "question", "records"}),
        (hyper_decode.Model.stream, "question", {"self", "question"}),
        (hyper_decode.Model.__init__, "model", {"self", "path"}),
        (hyper_decode.Remote.__init__, "server", {"self", "url", "model", "api_key"}),
    ):
        names = {_options.keyword_of(option["name"]) for option in _options.table(of)}
        assert set(inspect.signature(function).parameters) == names | more
        for name in names:
            assert f"    {name}: " in function.__doc__


def test_the_tables_are_those_of_the_page():
    """docs/options.md, which a test of the library keeps, lists the same options."""
    page = (pathlib.Path(__file__).parents[2] / "docs/options.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, flags=re.MULTILINE))
    names = {option["name"] for of in ("question", "model", "server") for option in _options.table(of)}
    assert names - listed == {"timing"}
    assert listed - names == set()


def test_the_stub_has_every_option():
    namespace = {"__package__": "hyper_decode"}
    exec(compile(_options.stub(), "_keywords.pyi", "exec"), namespace)
    for name, of in (("Question", "question"), ("Engine", "model"), ("Server", "server")):
        keywords = namespace[f"{name}Options"].__annotations__
        assert list(keywords) == [_options.keyword_of(row["name"]) for row in _options.table(of)]


def test_values_become_json():
    text = _options.to_json(
        "question", {"width": 3, "actions": ["none", "branch"], "seed": None}, "ask"
    )
    assert json.loads(text) == {"width": 3, "actions": "none,branch"}
    text = _options.to_json("server", {"header": ["A: b, c", "D: e"]}, "Remote")
    assert json.loads(text) == {"header": ["A: b, c", "D: e"]}
