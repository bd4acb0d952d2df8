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

import problems
from problems import ITEMS, NAMES, Draft, Problem, Solver

TRAINING_LEVELS = [1, 1, 2, 2, 3]  # one draw per question; higher levels are never trained on
OVERSHOOT_SHARE = 0.05  # of divisions: the first quotient tried is one too low
CARE = 0.5  # of calculations that Solver.calculate writes in a search


def division(rng: random.Random, number: int, divisor: int) -> str:
    """The remainder of a division, worked out; sometimes the first quotient is too low."""
    quotient, left = divmod(number, divisor)
    steps = []
    if quotient >= 1 and rng.random() < OVERSHOOT_SHARE:
        low = (quotient - 1) * divisor
        steps.append(f"{divisor}*{quotient - 1}={low}, {number}-{low}={number - low}, too big")
    whole = quotient * divisor
    steps.append(f"{divisor}*{quotient}={whole}, {number}-{whole}={left}")
    return ", ".join(steps)


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
        for candidate in search_order(solver.rng, candidates):
            work = f"{candidate}: {division(solver.rng, candidate, divisor)}"
            compared = f"{candidate % divisor} and {left}"
            if candidate == number:
                solver.say(f"{work}, {compared}. Yes.")
                break
            solver.say(f"{work}, {compared}. No.")
        return number

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
        candidate = number % step
        solver.say(f"{candidate} by {step} and {wanted} by {tested}.")
        solver.say(
            solver.pick([f"Go up by {step} from {candidate}.", f"{candidate} plus {step}s."])
        )
        head = f"{candidate}"
        while True:
            work = f"{head}: {division(solver.rng, candidate, tested)}"
            compared = f"{candidate % tested} and {wanted}"
            if candidate % tested == wanted:
                solver.say(f"{work}, {compared}. Yes.")
                return candidate
            solver.say(f"{work}, {compared}. No.")
            candidate += step
            head = f"{candidate - step}+{step}={candidate}"

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
        for case in search_order(solver.rng, cases):
            cost = other_price * case
            left = total - cost
            work = (
                f"{case} {other_item}: {case}*{other_price}={cost}, {total}-{cost}={left}, "
                f"{division(solver.rng, left, price)}"
            )
            if left % price == 0:
                solver.say(f"{work}. Yes.")
                break
            solver.say(f"{work}. No.")
        solver.say(f"{count} {item} and {other_count} {other_item}, so {value} {asked}.")
        return value

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
            value = guess * other
            in_parts = solver.rng.random() < 0.85
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
            work = f"{candidate}: {division(solver.rng, candidate, divisor)}"
            compared = f"{candidate % divisor} and {left}"
            if candidate in fitting:
                solver.say(f"{work}, {compared}. Yes, {total}+{candidate}={total + candidate}.")
                total += candidate
            else:
                solver.say(f"{work}, {compared}. No, {total}.")
        return total

    question = (
        f"What is the sum of all two-digit numbers that have digit sum {digit_sum} and leave "
        f"remainder {left} when divided by {divisor}?"
    )
    return Draft(question, sum(fitting), solve)


def orbit(rng: random.Random, level: int) -> Draft:
    """Multiply, add and keep the remainder, many times over."""
    times = rng.randint(3 + level, 5 + 2 * level)
    modulus = rng.randint(11 + 6 * level, 19 + 12 * level)
    factor, offset = rng.randint(2, 5 + level), rng.randint(1, modulus - 1)
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
            product = value * factor
            total = product + offset
            work = f"{value}*{factor}={product}, {product}+{offset}={total}"
            if total >= modulus:
                work += f", {division(solver.rng, total, modulus)}"
            value = total % modulus
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


KINDS: list[Callable[[random.Random, int], Draft]] = [*SEARCHES, join, join]


def problem(seed: int, level: int | None = None) -> Problem:
    """The question of a seed; levels 1 to 3 as in training, above harder; None: drawn."""
    rng = random.Random(f"tinysearch-{seed}")
    drawn_level = rng.choice(TRAINING_LEVELS) if level is None else level
    kind = rng.choice(KINDS)
    return problems.with_options(rng, kind(rng, drawn_level), kind.__name__, drawn_level)


def solution(seed: int, solve: problems.Solve) -> tuple[str, str]:
    """(thinking text, answer) written by `solve`."""
    return problems.solution(seed, solve, CARE, compares=True)
