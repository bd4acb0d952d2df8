"""Twenty rewritten forms and twenty near misses of a gold answer, by rules.

A rewriting means the same by construction, a near miss something else. Rules that do not fit a
gold are passed over; spacing fills up the rewritings, changed digits the near misses.
"""

import itertools
import re
from fractions import Fraction

COUNT = 20
_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]+)\}\{([^{}]+)\}")
_SIMPLE_FRACTION = re.compile(r"(-?)\\[dt]?frac\{(\d+)\}\{(\d+)\}$")


def is_scalar(gold: str) -> bool:
    """Whether a gold is one expression, to which arithmetic can be applied."""
    if re.search(r"\\text|\\mbox|\\begin|\\pm|\\cup|\\in\b|\\\$|\\circ|_|[,;=<>\[\]]", gold):
        return False
    return not re.search(r"\d\s*\\frac", gold)  # mixed numbers


def _spacings(gold: str):
    yield f" {gold} "
    yield f"${gold}$" if "$" not in gold else f"\\({gold}\\)"
    yield f"\\({gold}\\)"
    yield f"\\boxed{{{gold}}}"
    yield f"\\displaystyle {gold}"
    yield f"{gold}."
    yield f"\\, {gold} \\,"
    yield gold.replace("\\frac", "\\dfrac")
    yield gold.replace("\\frac", "\\tfrac")
    if "\\text" not in gold:
        yield re.sub(r"(?<!\\left)\(", r"\\left(", re.sub(r"(?<!\\right)\)", r"\\right)", gold))
    yield re.sub(r"\s*([+=<>])\s*", r" \1 ", gold)
    yield gold.replace("\\left", "").replace("\\right", "")
    yield gold.replace(",\\!", "")
    for spaces in itertools.count(2):  # endless: the caller stops at COUNT
        yield f"{' ' * spaces}{gold}"
        yield f"{gold}{'~' * (spaces - 1)}"
        yield f"$\\displaystyle {gold}{' ' * spaces}$" if "$" not in gold else f"\\! {gold}"


def _decimal(gold: str):
    match = _SIMPLE_FRACTION.match(gold)
    if not match:
        return None
    value = Fraction(int(match[2]), int(match[3]))
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{match[1]}{float(value)!r}" if rest == 1 else None


def _values(gold: str):
    """Rewritings of the value of a scalar."""
    yield _FRACTION.sub(r"(\1)/(\2)", gold)
    yield f"{gold} + 0"
    yield f"\\frac{{{gold}}}{{1}}"
    yield f"({gold})"
    yield f"-(-({gold}))"
    yield f"1 \\cdot ({gold})"
    yield f"\\frac{{2({gold})}}{{2}}"
    yield f"({gold}) \\cdot 3 / 3"
    yield f"x = {gold}" if not re.search(r"[a-zA-Z]", re.sub(r"\\[a-z]+", "", gold)) else None
    yield re.sub(r"\\sqrt\{(\d+)\}", r"(\1)^{1/2}", gold)
    yield re.sub(r"\\sqrt\{(\d+)\}", r"sqrt(\1)", gold)
    yield _decimal(gold)
    if re.fullmatch(r"-?\d+", gold):
        yield f"{gold}.0"
        yield f"{int(gold) - 1}+1"
        yield f"\\frac{{{3 * int(gold)}}}{{3}}"
        if len(gold.lstrip("-")) > 3:
            yield f"{int(gold):,}"
    match = _SIMPLE_FRACTION.match(gold)
    if match:
        yield f"{match[1]}\\frac{{{3 * int(match[2])}}}{{{3 * int(match[3])}}}"
        yield f"{match[1]}{match[2]}/{match[3]}"


def rewritings(gold: str) -> list[str]:
    """COUNT different texts that mean what the gold means."""
    forms: dict[str, None] = {}
    rules = itertools.chain(_values(gold) if is_scalar(gold) else (), _spacings(gold))
    for form in rules:
        if form and form != gold:
            forms[form] = None
        if len(forms) == COUNT:
            break
    return list(forms)


def _changed_digits(gold: str):
    for step in (1, 3, 7):
        for match in re.finditer(r"\d", gold):
            digit = str((int(match[0]) + step) % 10)
            yield gold[: match.start()] + digit + gold[match.end() :]


def _other_values(gold: str):
    # Not for 0, 1 and -1, which some of these leave as they are.
    if gold in ("0", "1", "-1"):
        return
    yield f"{gold} + 1"
    yield f"{gold} - 1"
    yield f"2({gold})"
    yield f"\\frac{{{gold}}}{{2}}"
    yield f"-({gold})"
    yield f"({gold})^3"
    yield f"{gold} + \\frac{{1}}{{1000}}"
    yield f"10({gold})"
    yield f"{gold} + \\pi"
    yield f"({gold}) \\cdot 1.0001"
    yield f"\\sqrt{{2}}({gold})"
    yield f"{gold} + 10^{{-9}}"


def near_misses(gold: str) -> list[str]:
    """Up to COUNT different texts that mean something else than the gold."""
    misses: dict[str, None] = {}
    rules = itertools.chain(_other_values(gold) if is_scalar(gold) else (), _changed_digits(gold))
    for miss in rules:
        if miss != gold:
            misses[miss] = None
        if len(misses) == COUNT:
            break
    for index in range(COUNT):
        if len(misses) == COUNT:
            break
        misses[f"{index + 100}"] = None
    return list(misses)
