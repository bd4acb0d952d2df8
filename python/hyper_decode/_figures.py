"""Figures and the report of a study, drawn by the program's own commands, for notebooks."""

from __future__ import annotations

import csv
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from typing import Iterable

from ._errors import InvalidArgumentError, NotFoundError
from ._table import Table

_NO_PICTURE = "There is no picture, since gnuplot is not installed. These are its numbers:"


@dataclass(frozen=True)
class Figure:
    """A figure of a study (docs/figures.md)."""

    name: str  # such as "fig08-budget"
    finding: str  # what it shows, in a sentence
    numbers: Table
    script: str  # for gnuplot; it holds the data
    svg: str | None  # None: gnuplot is not installed

    def _repr_html_(self) -> str:
        shown = self.svg or f"<p>{_NO_PICTURE}</p>{self.numbers._repr_html_()}"
        return f"<figure>{shown}<figcaption>{escape(self.finding)}</figcaption></figure>"


@dataclass(frozen=True)
class Report:
    """The page of `hyper report`: tables, figures, settings. `html` is one file."""

    html: str

    def _repr_html_(self) -> str:
        # In a frame, so that its styles stay its own.
        return (
            f'<iframe srcdoc="{escape(self.html)}" width="100%" height="800" '
            'style="border: 0" sandbox="allow-scripts"></iframe>'
        )


def _run(*arguments: str) -> str:
    """What a command of the program prints."""
    done = subprocess.run(
        [sys.executable, "-m", "hyper_decode", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        message = done.stderr.strip().splitlines()[-1]
        raise InvalidArgumentError(message)
    return done.stdout


def _numbers(text: str) -> Table:
    rows = list(csv.DictReader(text.splitlines()))
    columns = list(rows[0]) if rows else []
    return Table({name: [_value(name, row[name]) for row in rows] for name in columns})


def _value(column: str, text: str) -> str | float | None:
    if column not in ("x", "y", "low", "high"):
        return text
    return float(text) if text else None


def _plugin_flags(plugins: Iterable[str]) -> list[str]:
    return [text for file in plugins for text in ("--plugin", str(file))]


def draw_figures(
    study: pathlib.Path, names: tuple[str, ...], plugins: Iterable[str]
) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        only = ["--only", ",".join(names)] if names else []
        more = [*only, *_plugin_flags(plugins)]
        printed = _run("figures", str(study), "--out", temporary, *more).splitlines()
        findings = {
            line.rpartition("/")[2].partition(".{")[0]: printed[at + 1].strip()
            for at, line in enumerate(printed[:-1])
            if line.startswith(temporary)
        }
        figures = []
        for name, finding in findings.items():
            picture = folder / f"{name}.svg"
            figures.append(
                Figure(
                    name,
                    finding,
                    _numbers((folder / f"{name}.csv").read_text(encoding="utf-8")),
                    (folder / f"{name}.gp").read_text(encoding="utf-8"),
                    picture.read_text(encoding="utf-8") if picture.is_file() else None,
                )
            )
    if names and not figures:
        raise NotFoundError(f"the study has not what these figures need: {', '.join(names)}")
    return figures


def write_report(study: pathlib.Path, plugins: Iterable[str]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.html"
        _run("report", str(study), "--output", str(file), *_plugin_flags(plugins))
        return Report(file.read_text(encoding="utf-8"))
