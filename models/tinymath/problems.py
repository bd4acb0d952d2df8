"""Synthetic arithmetic questions with worked, thinking-style solutions.

Every question is generated from a seed and comes with its exact answer, so a data set can be
rebuilt bit for bit. A solution mixes strategies on purpose: results stated outright (short,
error-prone for a small model), results worked out in parts (long, reliable), mistakes that are
noticed and repaired, and checks.

The order of the random draws is part of the data format: a change here changes every question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

NAMES = (
    "Ana Ben Cara Dev Ella Finn Gia Hugo Iris Jack " "Kim Leo Mia Noah Omar Pia Quinn Rosa Sam Tara"
).split()
ITEMS = "apples pens books coins cards shells stamps beads cakes eggs nuts toys".split()
BOXES = "boxes bags shelves crates jars rows".split()
LEADS = ["", "", "", "So ", "Then ", "Next, ", "Now ", "Okay, "]

MULTIPLE_CHOICE_SHARE = 0.15
LETTERS = "ABCD"
SLIPS = [-100, -20, -10, -9, -2, -1, 1, 2, 9, 10, 20, 100]
LASTING_SLIPS = [-10, -2, -1, 1, 2, 10]
DISTRACTORS = [-100, -20, -12, -10, -5, -3, -2, -1, 1, 2, 3, 5, 8, 10, 20, 100]
TRAINING_LEVELS = [0, 1, 1, 2, 2, 3]  # one draw per question


class Solver:
    """Writes one solution; every calculation returns the exact value it worked out."""

    def __init__(
        self,
        rng: random.Random,
        care: float,
        slip: float = 0.07,
        compares: bool = False,
        lasting: float = 0,
    ):
        """`care`: share of hard calculations worked out; `slip`: share that first go wrong;
        `compares`: whether options are compared one by one; `lasting`: share of all calculations
        that go wrong unnoticed."""
        self.rng = rng
        self.care = care
        self.slip = slip
        self.compares = compares
        self.lasting = lasting
        self.lines: list[str] = []

    def worked_out(self, value: int) -> int:
        """What a calculation gives: `value`, or now and then a wrong one that nobody notices."""
        if self.lasting > 0 and self.rng.random() < self.lasting:
            return max(1, value + self.rng.choice(LASTING_SLIPS))  # nothing divides by it as 0
        return value

    def say(self, text: str) -> None:
        """Appends one line."""
        self.lines.append(text)

    def pick(self, choices: Sequence[str]) -> str:
        """One of the phrases."""
        return self.rng.choice(choices)

    def lead(self) -> str:
        """A phrase to begin a line with, often none."""
        return self.rng.choice(LEADS)

    def choose(self, value: int | str, options: Sequence[int]) -> str:
        """Says which of the options a value is; returns its letter."""
        nearest = min(options, key=lambda option: abs(option - int(value)))
        letter = LETTERS[options.index(nearest)]
        if nearest != int(value):  # after a lasting slip
            self.say(f"No option is {value}. {letter}) {nearest} is nearest.")
        elif self.compares:
            known = list(zip(LETTERS, options))[: LETTERS.index(letter)]
            self.say(
                "".join(f"{name}) {option} and {value}, no. " for name, option in known)
                + f"{letter}) {value} and {value}, yes."
            )
        else:
            self.say(f"{value} is option {letter}.")
        return letter

    def calculate(self, a: int, op: str, b: int, lead: str = "") -> int:
        """Says `a op b` outright, in parts, checked, or with a slip repaired; returns its value."""
        value = {"*": a * b, "+": a + b, "-": a - b, "/": a // b if b else 0}[op]
        given = self.worked_out(value)
        if given != value:
            self.say(f"{lead}{a}{op}{b}={given}.")
            return given
        direct = f"{a}{op}{b}={value}"
        hard = _is_hard(a, op, b)
        if hard and self.rng.random() < self.slip:
            wrong = value + self.rng.choice(SLIPS)
            if wrong > 0:
                self.say(f"{lead}{a}{op}{b}={wrong}.")
                word = self.pick(["Wait, check", "Hmm, check that", "Wait"])
                self.say(f"{word}: {self._parts(a, op, b)}. Not {wrong}. So {direct}.")
                return value
        if hard and self.rng.random() < self.care:
            if self.rng.random() < 0.6:
                self.say(f"{lead}{a}{op}{b}: {self._parts(a, op, b)}. So {direct}.")
            else:
                self.say(f"{lead}{direct}.")
                word = self.pick(["Check", "Let me check", "Check that"])
                self.say(f"{word}: {self._parts(a, op, b)}. Yes, {value}.")
            return value
        self.say(f"{lead}{direct}.")
        return value

    def _parts(self, a: int, op: str, b: int) -> str:
        """`a op b` worked out by tens and units, as one line."""
        if op == "*":
            return self.product_parts(max(a, b), min(a, b))
        if op in "+-":
            return _sum_parts(a, op, b)
        if op == "/":
            quotient = a // b
            tens, units = quotient // 10 * 10, quotient % 10
            if tens and units:
                rest = a - b * tens
                return (
                    f"{b}*{tens}={b * tens}, {a}-{b * tens}={rest}, "
                    f"{rest}/{b}={units}, {tens}+{units}={quotient}"
                )
            return f"{b}*{quotient}={a}, {a}/{b}={quotient}"
        raise ValueError(op)

    def product_parts(self, a: int, b: int) -> str:
        """a*b for a >= b: splits b, or a where b has one digit."""
        if b > 9:
            tens, units = b // 10 * 10, b % 10
            if units == 0:
                return f"{a}*{b // 10}={a * (b // 10)}, times 10 is {a * b}"
            if units >= 8 and self.rng.random() < 0.5:
                above, gap = tens + 10, 10 - units
                return (
                    f"{a}*{above}={a * above}, minus {a}*{gap}={a * gap}, "
                    f"{a * above}-{a * gap}={a * b}"
                )
            return f"{a}*{tens}={a * tens}, {a}*{units}={a * units}, {a * tens}+{a * units}={a * b}"
        if a > 9:
            tens, units = a // 10 * 10, a % 10
            return f"{tens}*{b}={tens * b}, {units}*{b}={units * b}, {tens * b}+{units * b}={a * b}"
        return f"{a}*{b}={a * b}"


# Writes a solution with a Solver and returns the answer.
Solve = Callable[[Solver], "int | str"]


class Draft(NamedTuple):
    """What a kind of question makes: before the choice of its form."""

    question: str
    value: int
    solve: Solve


class Problem(NamedTuple):
    """A question with its answer (digits, or a letter where options are given)."""

    question: str
    answer: str
    solve: Solve
    kind: str
    level: int


def _is_hard(a: int, op: str, b: int) -> bool:
    """Whether a calculation is worth working out."""
    if op == "*":
        return min(a, b) > 9 or max(a, b) > 30
    if op == "/":
        return a > 60
    return min(a, b) > 20


def _sum_parts(a: int, op: str, b: int) -> str:
    """a+b or a-b with the tens of b first."""
    sign = 1 if op == "+" else -1
    tens, units = b // 10 * 10, b % 10
    if tens and units:
        middle = a + sign * tens
        return f"{a}{op}{tens}={middle}, {middle}{op}{units}={a + sign * b}"
    return f"{a}{op}{b}={a + sign * b}"


def _divisors(value: int, least_quotient: int) -> list[int]:
    """Divisors of `value` in [2, 12] whose quotient is at least `least_quotient`."""
    return [d for d in range(2, 13) if value % d == 0 and value // d >= least_quotient]


def _chain_step(rng: random.Random, level: int, value: int) -> tuple[str, int]:
    """The next operation of a chain; keeps the value within [1, 9999]."""
    op = rng.choice("+-**/" if level > 1 else "+-*")
    operand = 0
    if op == "*":
        operand = rng.randint(2, 9 if level < 2 else (19 if level < 3 else 49))
        if value * operand > 9999:
            op = "-"
    if op == "/":
        divisors = _divisors(value, 2)
        if divisors:
            operand = rng.choice(divisors)
        else:
            op = "+"
    if op == "+":
        operand = rng.randint(3, 40 + 60 * level)
    if op == "-":
        operand = rng.randint(1, max(1, min(value - 1, 40 + 80 * level)))
        if value - operand < 1:
            op, operand = "+", rng.randint(3, 60)
    return op, operand


def chain(rng: random.Random, level: int) -> Draft:
    """A start value and a row of operations on it."""
    length = rng.randint(2, 2 + level)
    start = value = rng.randint(3, 30 + 20 * level)
    steps = []
    for _ in range(length):
        op, operand = _chain_step(rng, level, value)
        steps.append((op, operand))
        value = {
            "+": value + operand,
            "-": value - operand,
            "*": value * operand,
            "/": value // operand,
        }[op]
    words = {"+": "add {}", "-": "subtract {}", "*": "multiply by {}", "/": "divide by {}"}
    told = ", ".join(words[op].format(operand) for op, operand in steps)
    question = f"Start with {start}, {told}. What is the result?"

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick(["Go step by step.", "Work through the steps.", f"The start is {start}."])
        )
        result = start
        for op, operand in steps:
            result = solver.calculate(result, op, operand, solver.lead())
        return result

    return Draft(question, value, solve)


def story(rng: random.Random, level: int) -> Draft:
    """Boxes of items that are given away, bought, multiplied, split or joined by a friend's."""
    name, item, box = rng.choice(NAMES), rng.choice(ITEMS), rng.choice(BOXES)
    high = 9 + 12 * level
    count, size = rng.randint(3, high), rng.randint(3, high)
    value = count * size
    steps = [("*", count, size)]
    text = [f"{name} has {count} {box} with {size} {item} each."]
    for _ in range(rng.randint(1, 1 + level)):
        event = rng.choice(["give", "buy", "more", "split", "friend"])
        if event == "give":
            given = rng.randint(1, max(1, min(value - 1, 30 + 60 * level)))
            text.append(f"{name} gives away {given}.")
            steps.append(("-", value, given))
            value -= given
        elif event == "buy":
            bought = rng.randint(5, 50 + 60 * level)
            text.append(f"{name} buys {bought} more.")
            steps.append(("+", value, bought))
            value += bought
        elif event == "more" and value < 2000:
            factor = rng.randint(2, 3 + 3 * level)
            text.append(f"Then the number grows to {factor} times as many.")
            steps.append(("*", value, factor))
            value *= factor
        elif event == "split":
            divisors = _divisors(value, 3)
            if divisors:
                parts = rng.choice(divisors)
                text.append(f"{name} splits them into {parts} equal parts and keeps one part.")
                steps.append(("/", value, parts))
                value //= parts
        elif event == "friend":
            friend = rng.choice(NAMES)
            packs, pack_size = rng.randint(2, 6 + 6 * level), rng.randint(2, 6 + 6 * level)
            text.append(f"{friend} brings {packs} packs of {pack_size} {item}.")
            steps.append(("packs", packs, pack_size))
            value += packs * pack_size
    question = " ".join(text) + f" How many {item} does {name} have now?"

    def solve(solver: Solver) -> int:
        solver.say(
            solver.pick(
                [f"First count the {item}.", f"Find the number of {item}.", "Let me work it out."]
            )
        )
        result = 0
        for index, (op, a, b) in enumerate(steps):
            if op == "packs":
                lead = solver.pick(["The packs hold ", "Packs: ", "New: "])
                brought = solver.calculate(a, "*", b, lead)
                result = solver.calculate(result, "+", brought, solver.lead())
            else:
                left = a if index == 0 else result
                result = solver.calculate(left, op, b, solver.lead())
        return result

    return Draft(question, value, solve)


def equation(rng: random.Random, level: int) -> Draft:
    """A linear equation with x on one side, or on both."""
    x = rng.randint(2, 12 + 15 * level)
    slope = rng.randint(2, 6 + 6 * level)
    offset = rng.randint(1, 30 + 50 * level)
    if rng.random() < 0.5 or level == 0:
        return _equation_one_side(x, slope, offset)
    other_slope = rng.randint(1, slope - 1) if slope > 2 else 1
    return _equation_two_sides(x, slope, offset, other_slope)


def _equation_one_side(x: int, slope: int, offset: int) -> Draft:
    total = slope * x + offset

    def solve(solver: Solver) -> int:
        solver.say(solver.pick(["Move the constant over.", "Isolate x."]))
        product = solver.calculate(total, "-", offset)
        return solver.calculate(product, "/", slope, solver.pick(["x is ", "Divide: ", "So x: "]))

    return Draft(f"Solve {slope}x+{offset}={total} for x.", x, solve)


def _equation_two_sides(x: int, slope: int, offset: int, other_slope: int) -> Draft:
    other_offset = (slope - other_slope) * x + offset

    def solve(solver: Solver) -> int:
        solver.say(solver.pick(["Collect the x terms.", "Bring x to one side."]))
        difference = solver.calculate(slope, "-", other_slope)
        product = solver.calculate(other_offset, "-", offset)
        lead = solver.pick(["x is ", "Divide: ", "So x: "])
        return solver.calculate(product, "/", difference, lead)

    question = f"Solve {slope}x+{offset}={other_slope}x+{other_offset} for x."
    return Draft(question, x, solve)


def remainder(rng: random.Random, level: int) -> Draft:
    """The remainder of a*b+c."""
    divisor = rng.randint(3, 9 + 6 * level)
    a = rng.randint(5, 15 + 20 * level)
    b = rng.randint(3, 9 + 8 * level)
    c = rng.randint(1, 40 + 40 * level)

    def solve(solver: Solver) -> int:
        solver.say(solver.pick(["Find the number first.", "Compute the value, then divide."]))
        # The lead of the sum is drawn after the product is written: the order of draws is fixed.
        product = solver.calculate(a, "*", b, solver.lead())
        number = solver.calculate(product, "+", c, solver.lead())
        times = number // divisor
        lead = f"{divisor} goes into {number} {times} times. "
        whole = solver.calculate(divisor, "*", times, lead)
        return solver.calculate(number, "-", whole, "Left: ")

    question = f"What is the remainder of {a}*{b}+{c} divided by {divisor}?"
    return Draft(question, (a * b + c) % divisor, solve)


def sums(rng: random.Random, level: int) -> Draft:
    """The total cost of two or three purchases."""
    high = 9 + 12 * level
    pairs = [
        (rng.randint(3, high), rng.randint(3, high)) for _ in range(rng.randint(2, 2 + (level > 1)))
    ]
    name = rng.choice(NAMES)
    things = rng.sample(ITEMS, len(pairs))
    told = ", ".join(
        f"{count} {thing} at {price} dollars each" for (count, price), thing in zip(pairs, things)
    )
    question = f"{name} buys {told}. What is the total cost in dollars?"

    def solve(solver: Solver) -> int:
        solver.say(solver.pick(["Find each cost.", "Cost by cost.", "Let me add up the costs."]))
        order = list(range(len(pairs)))
        solver.rng.shuffle(order)
        costs = [solver.calculate(pairs[i][0], "*", pairs[i][1], f"{things[i]}: ") for i in order]
        total = costs[0]
        for cost in costs[1:]:
            total = solver.calculate(total, "+", cost, solver.lead())
        return total

    return Draft(question, sum(count * price for count, price in pairs), solve)


KINDS = [chain, story, equation, remainder, sums]


def draw_options(rng: random.Random, value: int) -> list[int]:
    """Four options, `value` among them, shuffled."""
    options = {value}
    while len(options) < len(LETTERS):
        option = value + rng.choice(DISTRACTORS)
        if option >= 0:
            options.add(option)
    shuffled = list(options)
    rng.shuffle(shuffled)
    return shuffled


def with_options(rng: random.Random, draft: Draft, kind: str, level: int) -> Problem:
    """The question of a draft: as it is, or with four options and a letter as its answer."""
    question, value, solve = draft
    if rng.random() >= MULTIPLE_CHOICE_SHARE:
        return Problem(question, str(value), solve, kind, level)
    options = draw_options(rng, value)
    listed = " ".join(f"{name}) {option}" for name, option in zip(LETTERS, options))

    def solve_choice(solver: Solver) -> str:
        return solver.choose(solve(solver), options)

    question = f"{question} {listed}. Answer with the letter."
    return Problem(question, LETTERS[options.index(value)], solve_choice, kind, level)


def problem(seed: int, level: int | None = None) -> Problem:
    """The question of a seed; level 0 easy to 3 hard, 4 harder than training; None: drawn."""
    rng = random.Random(f"tinymath-{seed}")
    drawn_level = rng.choice(TRAINING_LEVELS) if level is None else level
    kind = rng.choice(KINDS)
    return with_options(rng, kind(rng, drawn_level), kind.__name__, drawn_level)


def solution(
    seed: int,
    solve: Solve,
    care: float | None = None,
    compares: bool = False,
    lasting: float = 0,
) -> tuple[str, str]:
    """(thinking text, answer) written by `solve`; care is drawn when None."""
    rng = random.Random(f"solution-{seed}")
    chosen = rng.choice([0.1, 0.3, 0.5, 0.8]) if care is None else care
    solver = Solver(rng, chosen, compares=compares, lasting=lasting)
    answer = solve(solver)
    return "\n".join(solver.lines), str(answer)


def render(question: str, think: str, answer: str) -> tuple[str, str]:
    """(prompt, completion) in ChatML with a thinking block."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n<think>\n"
    completion = f"{think}\n</think>\n\nThe answer is \\boxed{{{answer}}}.<|im_end|>"
    return prompt, completion
