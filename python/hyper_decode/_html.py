"""A result as a small piece of HTML for notebooks: the ballot, and the tree of paths."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Path, Result

_MOST_PATHS = 200
_WIDTH = 640  # pixels of the longest path
_ROW = 14
# Readable on light and dark pages alike.
_COLORS = {
    "finished": "#2a9d5c",
    "pruned": "#c8553d",
    "merged": "#8d8d8d",
    "length": "#b8860b",
    "cancelled": "#8d8d8d",
}
_OTHER_COLOR = "#7a5195"


def _ballot(result: Result) -> str:
    rows = "".join(
        f"<tr><td>{escape(tally.answer)}</td><td>{tally.paths}</td>"
        f"<td>{'' if tally.share is None else f'{100 * tally.share:.1f} %'}</td></tr>"
        for tally in result.vote.scores
    )
    return (
        "<table><thead><tr><th>answer</th><th>paths</th>"
        f"<th>share of {escape(result.vote_rule)}</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _in_families(paths: list[Path]) -> list[Path]:
    """Each path before its forks, families together."""
    children: dict[int | None, list[Path]] = {}
    for path in paths:
        children.setdefault(path.parent, []).append(path)
    ordered: list[Path] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        path = waiting.pop()
        ordered.append(path)
        waiting.extend(reversed(children.get(path.id, [])))
    return ordered


def _tree(result: Result) -> str:
    paths = _in_families(result.paths)
    shown = paths[:_MOST_PATHS]
    row_of = {path.id: row for row, path in enumerate(shown)}
    scale = _WIDTH / max([path.tokens for path in shown] + [1])
    winner = result.winner
    parts = []
    for row, path in enumerate(shown):
        y = _ROW * row + _ROW / 2
        begin, end = path.fork_position * scale, max(path.tokens * scale, 1)
        color = _COLORS.get(path.status, _OTHER_COLOR)
        width = 4 if winner is not None and path.id == winner.id else 2
        title = f"path {path.id}: {path.status}, {path.tokens} tokens, answer {path.answer}"
        if path.parent in row_of:
            above = _ROW * row_of[path.parent] + _ROW / 2
            parts.append(
                f'<path d="M{begin:.1f} {above}V{y}" stroke="#8d8d8d" fill="none"/>'
            )
        parts.append(
            f'<path d="M{begin:.1f} {y}H{end:.1f}" stroke="{color}" stroke-width="{width}">'
            f"<title>{escape(title)}</title></path>"
        )
        if path.answer is not None:
            parts.append(
                f'<text x="{end + 4:.1f}" y="{y + 4}" font-size="10" fill="currentColor">'
                f"{escape(path.answer)}</text>"
            )
    hidden = len(paths) - len(shown)
    more = f"<p>{hidden} more paths are not shown.</p>" if hidden else ""
    return (
        f'<svg width="{_WIDTH + 120}" height="{_ROW * len(shown)}" role="img" '
        f'aria-label="tree of {len(paths)} paths">{"".join(parts)}</svg>{more}'
    )


def result_html(result: Result) -> str:
    """The answer, the ballot of its vote rule, and the tree with the winning path in bold."""
    answer = "no answer" if result.answer is None else result.answer
    ledger = result.ledger
    return (
        f"<div><p><b>{escape(answer)}</b> &mdash; {escape(result.method)}, "
        f"{len(result.paths)} paths, {ledger.generated} tokens generated, "
        f"{ledger.effective} effective, seed {result.seed}</p>"
        f"{_ballot(result)}{_tree(result)}</div>"
    )
