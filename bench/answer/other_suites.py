"""Runs the test suites of other graders through hyper's equivalence.

Each CHECKOUT is a folder with the `tests` of Math-Verify, NeMo-Skills or latex2sympy2_extended (the
last also needs sympy and the package itself to be importable). Their pairs and expectations are
read from the sources, nothing of them is run but the expressions that latex2sympy's tests expect.
Prints, per suite, how many pairs got the expected verdict, how many another one, and how many are
undecided; every pair that is not as expected goes to OUT.tsv, to be judged by hand.

usage: other_suites.py EQUAL_PAIRS OUT.tsv CHECKOUT...
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import pathlib
import subprocess
import sys
from typing import Iterator, NamedTuple


class Pair(NamedTuple):
    gold: str
    answer: str
    expected: str  # "equal" or "not equal"


def _literal(node: ast.expr):
    """The value of an expression of constants, or None."""
    try:
        return eval(compile(ast.Expression(node), "row", "eval"), {"__builtins__": {}})
    except Exception:  # names of the suite: no plain row
        return None


def _rows(function: ast.FunctionDef) -> Iterator:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            table = decorator.args[1] if len(decorator.args) > 1 else None
            if isinstance(table, (ast.List, ast.Tuple)):
                yield from (_literal(row) for row in table.elts)


def _asserts_false(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Assert) and "False" in ast.unparse(node.test)
        for node in ast.walk(function)
    )


def parametrized(tests: pathlib.Path) -> Iterator[Pair]:
    """Rows (gold, answer, expected) and, where the test says so itself, (gold, answer)."""
    for file in sorted(tests.glob("test_*.py")):
        source = file.read_text(encoding="utf-8")
        if "math_equal" not in source and "math_verify" not in source and "compare_strings" not in source:
            continue
        for function in ast.walk(ast.parse(source)):
            if not isinstance(function, ast.FunctionDef):
                continue
            for row in _rows(function):
                if not isinstance(row, tuple) or len(row) < 2:
                    continue
                if not all(isinstance(side, (str, int, float)) for side in row[:2]):
                    continue
                if len(row) > 2 and not isinstance(row[-1], (bool, int)):
                    continue
                same = bool(row[-1]) if len(row) > 2 else not _asserts_false(function)
                yield Pair(str(row[0]), str(row[1]), "equal" if same else "not equal")


def latex_expressions(checkout: pathlib.Path) -> Iterator[Pair]:
    """What latex2sympy's tests pass to assert_equal: LaTeX, and the expression that it means."""
    import pytest
    import sympy

    sys.path.insert(0, str(checkout))
    from tests import context

    pairs: list[Pair] = []

    def record(latex, expression, *_, **__):
        pairs.append(Pair(latex, sympy.latex(expression), "equal"))

    context.assert_equal = record
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-q", "-p", "no:cacheprovider", str(checkout / "tests"), "-o",
                     "python_files=*_test.py"])
    yield from pairs


def judge(command: list[str], pairs: list[Pair]) -> list[str]:
    def one_line(text: str) -> str:
        return " ".join(text.split())

    lines = "".join(f"{one_line(pair.gold)}\t{one_line(pair.answer)}\n" for pair in pairs)
    done = subprocess.run(
        command, input=lines, capture_output=True, check=True, encoding="utf-8"
    )
    return done.stdout.splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("equal_pairs")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("checkouts", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    with arguments.out.open("w", encoding="utf-8") as out:
        out.write("suite\tgold\tanswer\texpected\thyper\n")
        for checkout in arguments.checkouts:
            is_latex = (checkout / "tests" / "context.py").exists()
            if is_latex and importlib.util.find_spec("sympy") is None:
                sys.exit("other_suites: latex2sympy's tests need sympy; pip install math-verify")
            found = latex_expressions(checkout) if is_latex else parametrized(checkout / "tests")
            pairs = list(dict.fromkeys(found))
            # The other suites compare texts that the answer is to be found in.
            command = [arguments.equal_pairs] if is_latex else [arguments.equal_pairs, "--extract"]
            verdicts = judge(command, pairs)
            for pair, verdict in zip(pairs, verdicts):
                if verdict != pair.expected:
                    fields = (checkout.name, pair.gold, pair.answer, pair.expected, verdict)
                    out.write("\t".join(" ".join(field.split()) for field in fields) + "\n")
            agree = sum(verdict == pair.expected for pair, verdict in zip(pairs, verdicts))
            undecided = verdicts.count("undecided")
            print(
                f"{checkout.name:40} {len(pairs)} pairs: {agree} as expected, "
                f"{len(pairs) - agree - undecided} another verdict, {undecided} undecided "
                f"(equal {verdicts.count('equal')}, not equal {verdicts.count('not equal')})"
            )


if __name__ == "__main__":
    main()
