"""Tables that need no pandas, and become its frames or Arrow's where those are installed."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any, Iterator

if TYPE_CHECKING:
    import pandas
    import pyarrow

_MOST_ROWS = 20


class Table:
    """Columns of equal length, by name."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a dict."""
        for values in zip(*self.columns.values()):
            yield dict(zip(self.columns, values))

    def pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.columns)

    def arrow(self) -> pyarrow.Table:
        """As a table of Arrow."""
        import pyarrow

        return pyarrow.table(self.columns)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file. Needs pyarrow."""
        import pyarrow.parquet

        pyarrow.parquet.write_table(self.arrow(), os.fspath(path))

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        rows = [list(row.values()) for row, _ in zip(self, range(_MOST_ROWS))]
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows
        )
        more = len(self) - len(rows)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<p>{more} more rows are not shown.</p>" if more else "")
        )


def _cell(value: Any) -> str:
    return "" if value is None else escape(f"{value:g}" if isinstance(value, float) else str(value))
