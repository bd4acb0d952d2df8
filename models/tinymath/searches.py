"""Questions whose answer is found by search: try a candidate, work it out, compare, go on.

The second generation of the bundled model is trained on these. A path of one takes 100 to 500
tokens, a right candidate is confirmed by its check, and a slip anywhere leads to an answer of its
own. Multi-step kinds join two searches or repeat one step many times.

The order of the random draws is part of the data format: a change here changes every question.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

import problems
from problems import ITEMS, NAMES, Draft, Problem, Solver

TRAINING_LEVELS = [1, 2, 2, 3, 3, 4, 4, 5]  # one draw per question; never higher levels
OVERSHOOT_SHARE = 0.05  # of divisions: the first quotient tried is one too low
LARGEST_NUMBERS = 4  # the level from which on questions grow longer, not their numbers larger
NONE_FITS = "None of them. Try again."
CARE = 0.5  # of calculations that Solver.calculate writes in a search


class Division(NamedTuple):
    """A division with remainder as a trace writes it."""

    text: str
    quotient: int
    left: int


def division(solver: Solver, number: int, divisor: int) -> Division:
    """Works out a division; sometimes the first quotient is too low."""
    quotient = number // divisor
    steps = []
    if quotient >= 1 and solver.rng.random() < OVERSHOOT_SHARE:
        low = (quotient - 1) * divisor
        steps.append(f"{divisor}*{quotient - 1}={low}, {number}-{low}={number - low}, too big")
    whole = min(number, solver.worked_out(quotient * divisor))
    left = solver.worked_out(number - whole)
    steps.append(f"{divisor}*{quotient}={whole}, {number}-{whole}={left}")
    return Division(", ".join(steps), quotient, left)


def passes(solver: Solver, work: str, fits: bool) -> bool:
    """Says a candidate's work and whether it fits; returns whether it does."""
    solver.say(f"{work}. {'Yes' if fits else 'No'}.")
    return fits


def search_order(rng: random.Random, candidates: Iterable[int]) -> list[int]:
    """The candidates upwards, downwards, from a middle one round, or shuffled."""
    ordered = list(candidates)
    mode = rng.random()
    if mode < 0.35:
        return ordered
    if mode < 0.6:
        return ordered[::-1]
    if mode < 0.8:
        start = rng.randrange(len(ordered))
        return ordered[start:] + ordered[:start]
    rng.shuffle(ordered)
    return ordered


def with_digit_sum(digit_sum: int) -> list[int]:
    """The two-digit numbers with this digit sum, upwards."""
    return [number for number in range(10, 100) if number // 10 + number % 10 == digit_sum]


def digits(rng: random.Random, level: int) -> Draft:
    """A two-digit number from its digit sum and a remainder."""
    while True:
        digit_sum, divisor = rng.randint(4, 14), rng.randint(5 + 2 * level, 9 + 5 * level)
        candidates = with_digit_sum(digit_sum)
        number = rng.choice(candidates)
        left = number % divisor
        if sum(candidate % divisor == left for candidate in candidates) == 1:
            break

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick(
                [
                    f"Digit sum {digit_sum}, {left} by {divisor}: try them.",
                    f"List digit sum {digit_sum}, test {left} by {divisor}.",
                    f"Try each number for {left} by {divisor}.",
                ]
            )
        )
        while True:
            for candidate in search_order(solver.rng, candidates):
                work = division(solver, candidate, divisor)
                compared = f"{candidate}: {work.text}, {work.left} and {left}"
                if passes(solver, compared, work.left == left):
                    return candidate
            solver.say(NONE_FITS)

    question = (
        f"A two-digit number has digit sum {digit_sum} and leaves remainder {left} "
        f"when divided by {divisor}. What is the number?"
    )
    return Draft(question, number, solve)


def congruence(rng: random.Random, level: int) -> Draft:
    """A number from two remainders: go up in steps of one divisor, test with the other."""
    while True:
        a = rng.randint(4 + level, 8 + 4 * level)
        b = rng.randint(4 + level, 8 + 4 * level)
        if a != b and math.gcd(a, b) == 1:
            break
    number = rng.randrange(max(a, b), a * b)

    def solve(solver: Solver) -> int:
        larger_first = solver.rng.random() < 0.75
        step, tested = (a, b) if (a > b) == larger_first else (b, a)
        wanted = number % tested
        first = candidate = number % step
        solver.say(f"{candidate} by {step} and {wanted} by {tested}.")
        solver.say(
            solver.pick([f"Go up by {step} from {candidate}.", f"{candidate} plus {step}s."])
        )
        head = f"{candidate}"
        while True:
            work = division(solver, candidate, tested)
            compared = f"{head}: {work.text}, {work.left} and {wanted}"
            if passes(solver, compared, work.left == wanted):
                return candidate
            last, candidate = candidate, solver.worked_out(candidate + step)
            head = f"{last}+{step}={candidate}"
            if candidate >= a * b:
                solver.say(NONE_FITS)
                candidate = first
                head = f"{candidate}"

    question = (
        f"Which number below {a * b} leaves remainder {number % a} when divided by {a} "
        f"and remainder {number % b} when divided by {b}?"
    )
    return Draft(question, number, solve)


def spend(rng: random.Random, level: int) -> Draft:
    """Two prices and a total: try how many of the second fit."""
    while True:
        price, other_price = rng.randint(3, 7 + 4 * level), rng.randint(3, 7 + 4 * level)
        if price == other_price:
            continue
        count, other_count = rng.randint(1, 4 + 3 * level), rng.randint(1, 3 + 2 * level)
        total = price * count + other_price * other_count
        cases = range(1, (total - price) // other_price + 1)
        if sum((total - other_price * case) % price == 0 for case in cases) == 1:
            break
    name = rng.choice(NAMES)
    item, other_item = rng.sample(ITEMS, 2)
    asked, value = (item, count) if rng.random() < 0.5 else (other_item, other_count)

    def solve(solver: Solver) -> int:
        solver.say(f"Find {asked}. {item} {price}, {other_item} {other_price}, {total} in all.")
        solver.say(
            solver.pick(
                [
                    f"Try the number of {other_item}.",
                    f"Go through the {other_item}.",
                    "Try each case.",
                ]
            )
        )
        found, other_found = try_cases(solver)
        chosen = found if asked == item else other_found
        solver.say(f"{found} {item} and {other_found} {other_item}, so {chosen} {asked}.")
        return chosen

    def try_cases(solver: Solver) -> tuple[int, int]:
        while True:
            for case in search_order(solver.rng, cases):
                cost = solver.worked_out(other_price * case)
                left = solver.worked_out(max(0, total - cost))
                work = division(solver, left, price)
                compared = (
                    f"{case} {other_item}: {case}*{other_price}={cost}, {total}-{cost}={left}, "
                    f"{work.text}"
                )
                if passes(solver, compared, work.left == 0):
                    return work.quotient, case
            solver.say(NONE_FITS)

    question = (
        f"{item.capitalize()} cost {price} dollars each and {other_item} cost {other_price} "
        f"dollars each. {name} spends exactly {total} dollars and buys at least one of each. "
        f"How many {asked} does {name} buy?"
    )
    return Draft(question, value, solve)


def next_guess(rng: random.Random, low: int, high: int | None) -> int:
    """A guess above `low` and below `high`: steps of ten up, then about the middle."""
    if high is None:
        return low + 10
    if low == 0 and high > 10:
        return high - 10
    middle = (low + high) // 2
    return min(high - 1, max(low + 1, middle + rng.choice([-1, 0, 0, 1])))


def pair(rng: random.Random, level: int) -> Draft:
    """Two numbers from their difference and product: guess, compare, correct the guess."""
    difference = rng.randint(1, 6 + 5 * level)
    smaller = rng.randint(4, 10 + 12 * level)
    product = smaller * (smaller + difference)

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick([f"Guess and check, {difference} apart.", f"Try pairs {difference} apart."])
        )
        low: int = 0
        high: int | None = None
        guess = 10 * solver.rng.randint(1, smaller // 10 + 2)
        while True:
            other = guess + difference
            value = solver.worked_out(guess * other)
            in_parts = value == guess * other and solver.rng.random() < 0.85
            work = solver.product_parts(other, guess) if in_parts else f"{other}*{guess}={value}"
            compared = f"{guess}+{difference}={other}, {work}, {value} and {product}"
            if value == product:
                solver.say(f"{compared}. Yes.")
                return other
            if value < product:
                solver.say(f"{compared}. Too small.")
                low = guess
            else:
                solver.say(f"{compared}. Too big.")
                high = guess
            if high is not None and high - low < 2:
                solver.say(NONE_FITS)
                low, high = 0, None
            guess = next_guess(solver.rng, low, high)

    question = (
        f"Two numbers differ by {difference} and their product is {product}. "
        "What is the larger number?"
    )
    return Draft(question, smaller + difference, solve)


def collect(rng: random.Random, level: int) -> Draft:
    """The sum of all numbers with a digit sum and a remainder: test every one, add up."""
    while True:
        digit_sum, divisor = rng.randint(3, 5 + 2 * level), rng.randint(3, 4 + 2 * level)
        candidates = with_digit_sum(digit_sum)
        left = rng.randrange(divisor)
        fitting = [candidate for candidate in candidates if candidate % divisor == left]
        if 1 < len(fitting) < 6:
            break

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick(
                [
                    f"Digit sum {digit_sum}: test all for {left} by {divisor}.",
                    f"Test all for {left} by {divisor}.",
                ]
            )
        )
        total = 0
        for candidate in candidates:
            work = division(solver, candidate, divisor)
            compared = f"{candidate}: {work.text}, {work.left} and {left}"
            if work.left == left:
                last, total = total, solver.worked_out(total + candidate)
                solver.say(f"{compared}. Yes, {last}+{candidate}={total}.")
            else:
                solver.say(f"{compared}. No, {total}.")
        return total

    question = (
        f"What is the sum of all two-digit numbers that have digit sum {digit_sum} and leave "
        f"remainder {left} when divided by {divisor}?"
    )
    return Draft(question, sum(fitting), solve)


def orbit(rng: random.Random, level: int) -> Draft:
    """Multiply, add and keep the remainder, many times over."""
    size = min(level, LARGEST_NUMBERS)
    times = rng.randint(3 + level, 5 + 2 * level)
    modulus = rng.randint(11 + 6 * size, 19 + 12 * size)
    factor, offset = rng.randint(2, 5 + size), rng.randint(1, modulus - 1)
    start = rng.randint(1, modulus - 1)
    value = start
    for _ in range(times):
        value = (value * factor + offset) % modulus

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick(["One round after the other.", f"Do it {times} times.", "Round by round."])
        )
        value = start
        for turn in range(1, times + 1):
            product = solver.worked_out(value * factor)
            total = solver.worked_out(product + offset)
            work = f"{value}*{factor}={product}, {product}+{offset}={total}"
            value = total
            if total >= modulus:
                divided = division(solver, total, modulus)
                work += f", {divided.text}"
                value = divided.left
            solver.say(f"{turn}: {work}. Now {value}.")
        return value

    question = (
        f"Start with {start}. Do this {times} times: multiply by {factor}, add {offset}, and keep "
        f"the remainder when divided by {modulus}. What is the result?"
    )
    return Draft(question, value, solve)


SEARCHES = [digits, congruence, spend, pair, collect, orbit]
JOINABLE = [digits, congruence, spend, pair]


def join(rng: random.Random, level: int) -> Draft:
    """Two searches, or three from level 5 on, and what their answers make together."""
    if level < 5:
        part_levels = [rng.randint((level + 1) // 2, level // 2 + 1) for _ in range(2)]
    else:
        part_levels = [level - 4] * 3
    parts = [rng.choice(JOINABLE)(rng, part_level) for part_level in part_levels]
    multiplies = len(parts) == 2 and rng.random() < 0.4
    letters = "ABC"[: len(parts)]
    asked = ("*" if multiplies else "+").join(letters)
    values = [part.value for part in parts]

    def solve(solver: Solver) -> int:
        found = []
        for letter, part in zip(letters, parts):
            solver.say(f"Find {letter}.")
            found.append(int(part.solve(solver)))
            solver.say(f"{letter} is {found[-1]}.")
        result = found[0]
        for number, value in enumerate(found[1:]):
            lead = "" if number > 0 else f"{asked}: "
            result = solver.calculate(result, "*" if multiplies else "+", value, lead)
        return result

    told = " ".join(
        f"{letter} is the answer to: {part.question}" for letter, part in zip(letters, parts)
    )
    question = f"{told} What is {asked}?"
    return Draft(question, math.prod(values) if multiplies else sum(values), solve)


KINDS: list[Callable[[random.Random, int], Draft]] = [*SEARCHES, collect, orbit, orbit, join, join]


LENGTHENING = [orbit, join]  # grow longer from level to level


def problem(seed: int, level: int | None = None) -> Problem:
    """The question of a seed; levels 1 to 3 as in training, above harder; None: drawn."""
    rng = random.Random(f"tinysearch-{seed}")
    drawn_level = rng.choice(TRAINING_LEVELS) if level is None else level
    kind = rng.choice(KINDS)
    level_of_kind = drawn_level if kind in LENGTHENING else min(drawn_level, LARGEST_NUMBERS)
    return problems.with_options(rng, kind(rng, level_of_kind), kind.__name__, drawn_level)


def solution(seed: int, solve: problems.Solve, lasting: float = 0) -> tuple[str, str]:
    """(thinking text, answer) written by `solve`; `lasting` as in problems.Solver."""
    return problems.solution(seed, solve, CARE, compares=True, lasting=lasting)
