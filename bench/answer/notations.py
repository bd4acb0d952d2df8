"""Agreement of hyper's equivalence and Math-Verify on notations: units, bases, families and so on.

For each kind of notation COUNT golds are drawn, each with an answer that means the same and one
that does not. The numbers come from a fixed seed; what they mean is computed here. Prints a row of
Markdown per kind; every pair on which a program is not as meant is written to a file.

usage: notations.py EQUAL_PAIRS OUT.tsv
"""

import pathlib
import random
import sys
from fractions import Fraction
from typing import Callable, NamedTuple

COUNT = 20


class Draw(NamedTuple):
    gold: str
    same: str
    other: str


def units_in_letters(draw: random.Random) -> Draw:
    number, unit = draw.randint(2, 99), draw.choice(["m/s", "kg", "min", "N", "cm^2", "°C"])
    return Draw(f"{number} {unit}", f"{number}", f"{number + 1}")


def several_units(draw: random.Random) -> Draw:
    hours, minutes = draw.randint(2, 9), draw.randint(1, 59)
    gold = f"{hours} \\text{{ hours }} {minutes} \\text{{ minutes}}"
    total = 60 * hours + minutes
    return Draw(gold, f"{total} \\text{{ minutes}}", f"{total + 10} \\text{{ minutes}}")


def bases_with_letters(draw: random.Random) -> Draw:
    number = draw.randint(160, 4095)
    while not any(digit in "ABCDEF" for digit in f"{number:X}"):
        number += 1
    return Draw(f"{number:X}_{{16}}", f"{number}", f"{number + 16}")


def constants_of_integration(draw: random.Random) -> Draw:
    factor, power = draw.randint(2, 9), draw.randint(2, 5)
    letter = draw.choice("Kkc")
    same, other = (f"{each}x^{power}+{letter}" for each in (factor, factor + 1))
    return Draw(f"{factor}x^{power}+C", same, other)


def families(draw: random.Random) -> Draw:
    over = draw.randint(3, 30)
    gold = f"\\frac{{\\pi}}{{{over}}}+n\\pi, n\\in\\mathbb{{Z}}"
    same = f"\\frac{{\\pi}}{{{over}}}+k\\pi, k\\in\\mathbb{{Z}}"
    return Draw(gold, same, same.replace(f"{{{over}}}", f"{{{over + 1}}}"))


def approximations(draw: random.Random) -> Draw:
    radicand = draw.choice([n for n in range(2, 60) if round(n ** 0.5) ** 2 not in (n, n + 4)])
    gold = f"\\sqrt{{{radicand}}} \\approx {radicand ** 0.5:.3f}"
    return Draw(gold, f"\\sqrt{{{radicand}}}", f"\\sqrt{{{radicand + 4}}}")


def functions_by_cases(draw: random.Random) -> Draw:
    slope, border = draw.randint(2, 9), draw.randint(1, 9)

    def cases(join: str, second: int) -> str:
        rows = [(f"{slope}x", f"x < {border}"), (f"x^{second}", f"x \\ge {border}")]
        body = " \\\\ ".join(f"{value}{join}{where}" for value, where in rows)
        return f"\\begin{{cases}} {body} \\end{{cases}}"

    return Draw(cases(" & \\text{if } ", 2), cases(", & ", 2), cases(", & ", 3))


def factors_behind_powers(draw: random.Random) -> Draw:
    base, less = draw.randint(2, 5), draw.randint(1, 4)
    power = f"{base}^{{n-{less}}}"
    return Draw(f"n{power}", f"n \\cdot {power}", f"n + {power}")


def multiples_of_matrices(draw: random.Random) -> Draw:
    factor, entries = draw.randint(2, 5), [draw.randint(1, 9) for _ in range(4)]

    def matrix(values: list[int]) -> str:
        a, b, c, d = values
        return f"\\begin{{pmatrix}}{a}&{b}\\\\{c}&{d}\\end{{pmatrix}}"

    product = [factor * entry for entry in entries]
    wrong = product[:3] + [product[3] + 1]
    return Draw(f"{factor}{matrix(entries)}", matrix(product), matrix(wrong))


def solutions_in_groups(draw: random.Random) -> Draw:
    a, b, c, d = (draw.randint(1, 20) for _ in range(4))
    return Draw(f"p={a},q={b};p={c},q={d + 20}", f"({a},{b}),({c},{d + 20})",
                f"({a},{b + 1}),({c},{d + 20})")


def index_and_power(draw: random.Random) -> Draw:
    index, power = draw.randint(10, 19), draw.randint(2, 5)
    return Draw(f"x_{{{index}}}^{power}", f"x^{power}_{{{index}}}", f"x^{{{index}}}_{power}")


def money(draw: random.Random) -> Draw:
    amount = draw.randint(1000, 9999)
    return Draw(f"$\\$ {amount}$", f"{amount}", f"{amount + 100}")


def remainders_and_maxima(draw: random.Random) -> Draw:
    left, right = draw.randint(20, 99), draw.randint(3, 9)
    if draw.random() < 0.5:
        return Draw(f"{left} \\bmod {right}", f"{left % right}", f"{left % right + 1}")
    return Draw(f"\\max({left}, {right}, {left + 2})", f"{left + 2}", f"{left}")


def ratios(draw: random.Random) -> Draw:
    left, right, times = draw.randint(2, 9), draw.randint(10, 40), draw.randint(2, 5)
    value = Fraction(left, right)
    return Draw(f"{left}:{right}", f"{times * left}:{times * right}",
                f"\\frac{{{value.numerator}}}{{{value.denominator + 1}}}")


KINDS: list[Callable[[random.Random], Draw]] = [
    units_in_letters, several_units, bases_with_letters, constants_of_integration, families,
    approximations, functions_by_cases, factors_behind_powers, multiples_of_matrices,
    solutions_in_groups, index_and_power, money, remainders_and_maxima, ratios,
]


def pairs(kind: Callable[[random.Random], Draw]) -> list[tuple[str, str, str]]:
    """COUNT distinct golds or fewer, each with both answers: (gold, answer, what is meant)."""
    draw = random.Random(kind.__name__)
    drawn = {}
    for _ in range(5 * COUNT):
        each = kind(draw)
        if len(drawn) < COUNT:
            drawn.setdefault(each.gold, each)
    rows = [(each.gold, each.same, "equal") for each in drawn.values()]
    return rows + [(each.gold, each.other, "not equal") for each in drawn.values()]


def line(name: str, counts: list[int]) -> str:
    return f"| {name} | " + " | ".join(str(count) for count in counts) + " |"


def main() -> None:
    from against_math_verify import judge_with_hyper, judge_with_math_verify

    program, out = sys.argv[1:]
    lines = ["gold\tanswer\tmeant\thyper\tmath-verify"]
    print("| notation | pairs | hyper | wrong | math-verify | wrong |\n|---|---|---|---|---|---|")
    totals = [0] * 5
    for kind in KINDS:
        rows = pairs(kind)
        judged = [(gold, answer) for gold, answer, _ in rows]
        verdicts = [judge_with_hyper(program, judged)[0], judge_with_math_verify(judged)[0]]
        counts = [len(rows)]
        for each in verdicts:
            right = sum(verdict == meant for verdict, (_, _, meant) in zip(each, rows))
            counts += [right, len(rows) - right - each.count("undecided")]
        for row in zip(*zip(*rows), *verdicts):
            if any(verdict != row[2] for verdict in row[3:]):
                lines.append("\t".join(row))
        print(line(kind.__name__.replace("_", " "), counts))
        totals = [total + count for total, count in zip(totals, counts)]
    print(line("all", totals))
    pathlib.Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
