import csv
import shutil
import sqlite3
import subprocess

import pytest

import hyper_decode


@pytest.fixture(scope="module")
def study(program, tmp_path_factory):
    """A study of four questions by two methods."""
    path = tmp_path_factory.mktemp("study") / "runs.db"
    command = [
        program, "eval", "--methods", "sc,hyper", "--questions", "4", "--width", "6", "--warmup",
        "3", "--levels", "1", "--threads", "1", "--seed", "3", "--study", str(path),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return path


def count(path, query):
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchone()[0]


def test_tables_have_the_rows_of_the_file(study):
    with hyper_decode.Study(study) as opened:
        assert len(opened.runs()) == 2
        assert len(opened.items()) == 8
        assert len(opened.items("sc")) == 4
        assert len(opened.paths()) == count(study, "SELECT count(*) FROM paths")
        assert len(opened.decisions()) == count(study, "SELECT count(*) FROM decisions")
        assert len(opened.votes()) == count(study, "SELECT count(*) FROM votes")
        assert set(opened.items().columns["verdict"]) <= {"right", "wrong", "undecided"}
        runs = {run["method"]: run for run in opened.runs()}
        assert set(runs) == {"sc", "hyper"}
        assert runs["hyper"]["settings"]["width"] == "6"


def test_items_are_those_that_the_program_exports(study, program):
    """Answers, verdicts and tokens as `hyper export --csv` prints them."""
    text = subprocess.run(
        [program, "export", "--csv", str(study)], check=True, capture_output=True, text=True
    ).stdout
    exported = list(csv.DictReader(text.splitlines()))
    with hyper_decode.Study(study) as opened:
        items = {(item["run"], item["question"]): item for item in opened.items()}
    assert len(exported) == len(items) == 8
    for row in exported:
        item = items[(row["label"], row["question"])]
        assert (item["answer"] or "") == row["answer"]
        assert item["verdict"] == row["verdict"]
        assert item["generated"] == int(row["generated"])


def test_a_series_has_a_value_for_each_token_of_its_own(study):
    with hyper_decode.Study(study) as opened:
        # Rows of sc that could be replayed on the paths of hyper have none.
        series = opened.series("confidence", "hyper")
        paths = opened.paths("hyper")
        assert set(paths.columns["parent"]) == {-1}  # a fork's series begins at its fork
        assert len(series) == sum(paths.columns["tokens"])
        one = [row for row in series if row["question"] == series.columns["question"][0]]
        path = [row for row in one if row["path"] == 0]
        assert [row["position"] for row in path] == list(range(len(path)))
        mean = sum(row["confidence"] for row in path) / len(path)
        stored = next(
            row for row in paths if row["question"] == one[0]["question"] and row["path"] == 0
        )
        assert mean == pytest.approx(stored["mean_confidence"], rel=1e-5)
        with pytest.raises(hyper_decode.NotFoundError, match="'colour'.*confidence"):
            opened.series("colour")


def test_frames_of_pandas_and_arrow(study, tmp_path):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    with hyper_decode.Study(study) as opened:
        items = opened.items()
        frame = items.pandas()
        assert list(frame["answer"]) == items.columns["answer"]
        assert frame.groupby("run")["generated"].sum().gt(0).all()
        table = items.arrow()
        assert isinstance(table, pyarrow.Table) and table.num_rows == 8
        assert table["answer"].to_pylist() == items.columns["answer"]
        items.to_parquet(tmp_path / "items.parquet")
        again = pandas.read_parquet(tmp_path / "items.parquet")
        assert list(again["generated"]) == items.columns["generated"]
        assert "<table" in opened.decisions()._repr_html_()


def test_what_is_no_study_is_refused(tmp_path):
    with pytest.raises(hyper_decode.NotFoundError):
        hyper_decode.Study(tmp_path / "none.db")
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE a(b)").connection.commit()
    with pytest.raises(hyper_decode.InvalidArgumentError, match="no study"):
        hyper_decode.Study(other)
    text = tmp_path / "text.db"
    text.write_text("not a database, but a text that is long enough for a header" * 20)
    with pytest.raises(hyper_decode.DataLossError):
        hyper_decode.Study(text)


def test_figures_and_report_for_a_notebook(study):
    with hyper_decode.Study(study) as opened:
        [tokens] = opened.figures("tokens")
        assert tokens.name == "tokens"
        assert "effective tokens a question" in tokens.finding
        numbers = list(tokens.numbers)
        assert {row["category"] for row in numbers} == {"sc", "hyper"}
        spent = sum(row["y"] for row in numbers if row["category"] == "sc")
        assert spent == pytest.approx(mean(opened.items("sc").columns["generated"]))
        html = tokens._repr_html_()
        assert "<svg" in html if shutil.which("gnuplot") else "gnuplot is not installed" in html
        assert {"tokens", "fig08-budget"} <= {figure.name for figure in opened.figures()}
        assert [figure.name for figure in opened.figures(8)] == ["fig08-budget"]
        with pytest.raises(hyper_decode.InvalidArgumentError, match="nothing-like-it"):
            opened.figures("nothing-like-it")
        with pytest.raises(hyper_decode.NotFoundError, match="isolated"):
            opened.figures("isolated")
        report = opened.report()
        assert "<table" in report.html and "its largest part is" in report.html
        assert report._repr_html_().startswith("<iframe srcdoc=")


def mean(values):
    return sum(values) / len(values)


def test_a_table_shows_its_first_rows(study):
    with hyper_decode.Study(study) as opened:
        html = opened.series("confidence")._repr_html_()
    assert html.count("<tr>") == 21
    assert "more rows are not shown" in html
    assert "<script>" not in hyper_decode.Table({"<script>": ["<script>", None]})._repr_html_()
