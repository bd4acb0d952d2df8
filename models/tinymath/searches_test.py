"""Tests of searches.py: each answer is found again from the question's text by plain enumeration.

python searches_test.py
"""

from __future__ import annotations

import itertools
import math
import random
import re
import unittest

import problems
import searches

SEEDS = range(40)
LEVELS = range(1, 7)


def two_digit(digit_sum: int, left: int, divisor: int) -> list[int]:
    """All numbers of a text of kind `digits` or `collect`."""
    return [n for n in range(10, 100) if sum(map(int, str(n))) == digit_sum and n % divisor == left]


def spent(numbers: list[int], asked: str, first: str) -> list[int]:
    """All answers of a text of kind `spend`."""
    price, other, total = numbers
    fits = [
        (a, b)
        for a, b in itertools.product(range(1, total + 1), repeat=2)
        if a * price + b * other == total
    ]
    return [a if asked == first else b for a, b in fits]


def iterated(start: int, times: int, factor: int, offset: int, modulus: int) -> int:
    """x -> factor x + offset, `times` times, in closed form."""
    power = factor**times
    return (start * power + offset * ((power - 1) // (factor - 1))) % modulus


def answers(question: str) -> list[int]:
    """Every answer that the text admits."""
    parts = re.findall(r"[A-C] is the answer to: ([^?]*\?(?: What is the number\?)?)", question)
    if parts:
        return [
            math.prod(values) if "*" in question.rsplit(".", 1)[-1] else sum(values)
            for values in itertools.product(*map(answers, parts))
        ]
    numbers = [int(text) for text in re.findall(r"\d+", question)]
    if question.startswith("A two-digit number"):
        return two_digit(*numbers)
    if question.startswith("What is the sum"):
        return [sum(two_digit(*numbers))]
    if question.startswith("Which number"):
        below, left, divisor, other_left, other = numbers
        return [n for n in range(below) if n % divisor == left and n % other == other_left]
    if question.startswith("Two numbers"):
        difference, product = numbers
        divisors = [n for n in range(1, math.isqrt(product) + 1) if product % n == 0]
        return [product // n for n in divisors if product // n - n == difference]
    if question.startswith("Start with"):
        return [iterated(*numbers)]
    asked = re.search(r"How many (\w+) does", question)
    assert asked, question
    return spent(numbers, asked[1], question.split()[0].lower())


class Searches(unittest.TestCase):
    """What each kind of question promises."""

    def drafts(self):
        """(kind, level, seed, draft) over all kinds and levels."""
        for kind, level, seed in itertools.product(
            [*searches.SEARCHES, searches.join], LEVELS, SEEDS
        ):
            rng = random.Random(f"{kind.__name__}-{level}-{seed}")
            yield kind.__name__, level, seed, kind(rng, level)

    def test_the_text_has_one_answer_and_it_is_the_value(self):
        for kind, level, seed, draft in self.drafts():
            with self.subTest(kind=kind, level=level, seed=seed):
                self.assertEqual(answers(draft.question), [draft.value])

    def test_every_solution_ends_at_the_value(self):
        for kind, level, seed, draft in self.drafts():
            for way in range(3):
                with self.subTest(kind=kind, level=level, seed=seed, way=way):
                    solver = problems.Solver(random.Random(f"{seed}-{way}"), searches.CARE)
                    self.assertEqual(draft.solve(solver), draft.value)

    def test_every_written_calculation_holds(self):
        step = re.compile(r"(?<![\d*+-])(\d+)([*+-])(\d+)=(\d+)")
        for kind, level, seed, draft in self.drafts():
            solver = problems.Solver(random.Random(seed), searches.CARE, slip=0)
            draft.solve(solver)
            for line in solver.lines:
                for a, operation, b, value in step.findall(line):
                    holds = {
                        "*": int(a) * int(b),
                        "+": int(a) + int(b),
                        "-": int(a) - int(b),
                    }[operation]
                    self.assertEqual(holds, int(value), (kind, level, line))

    def test_only_the_last_candidate_is_confirmed(self):
        for kind, level, seed, draft in self.drafts():
            if kind in ("collect", "orbit", "join"):
                continue
            solver = problems.Solver(random.Random(seed), searches.CARE)
            draft.solve(solver)
            verdicts = [line for line in solver.lines if re.search(r"(Yes|No|Too \w+)\.$", line)]
            with self.subTest(kind=kind, level=level, seed=seed):
                self.assertEqual([line.endswith("Yes.") for line in verdicts].count(True), 1)
                self.assertTrue(verdicts[-1].endswith("Yes."))

    def test_a_lasting_slip_is_carried_on_to_the_answer(self):
        wrong = 0
        for kind, level, seed, draft in self.drafts():
            solver = problems.Solver(random.Random(seed), searches.CARE, lasting=0.1)
            value = draft.solve(solver)
            wrong += value != draft.value
            with self.subTest(kind=kind, level=level, seed=seed):
                if kind == "orbit":
                    rounds = [re.match(r"\d+: (\d+)\*.* Now (\d+)\.$", l) for l in solver.lines[1:]]
                    starts = [int(match[1]) for match in rounds]
                    ends = [int(match[2]) for match in rounds]
                    self.assertEqual(starts[1:], ends[:-1])
                    self.assertEqual(ends[-1], value)
                elif kind in ("digits", "congruence"):
                    last = re.search(r"(?:^|=)(\d+): .* (\d+) and (\d+)\. Yes\.$", solver.lines[-1])
                    self.assertEqual((int(last[1]), last[2]), (value, last[3]))
        self.assertGreater(wrong, 200)

    def test_without_lasting_slips_nothing_is_drawn_for_them(self):
        solver = problems.Solver(random.Random(1), searches.CARE)
        self.assertEqual([solver.worked_out(value) for value in range(50)], list(range(50)))
        self.assertEqual(solver.rng.random(), random.Random(1).random())
        slipping = problems.Solver(random.Random(1), searches.CARE, lasting=1)
        self.assertEqual(
            {slipping.worked_out(40) - 40 for _ in range(200)}, set(problems.LASTING_SLIPS)
        )

    def test_a_slip_among_options_takes_the_nearest(self):
        solver = problems.Solver(random.Random(1), searches.CARE, compares=True)
        self.assertEqual(solver.choose(41, [10, 44, 39, 90]), "C")
        self.assertIn("nearest", solver.lines[-1])

    def test_a_seed_gives_its_question_and_solution_again(self):
        for seed in SEEDS:
            problem, again = searches.problem(seed), searches.problem(seed)
            self.assertEqual(problem.question, again.question)
            text, answer = searches.solution(seed, problem.solve)
            self.assertEqual((text, answer), searches.solution(seed, again.solve))
            self.assertEqual(answer, problem.answer)

    def test_options_hold_the_answer_under_its_letter(self):
        choices = [p for p in map(searches.problem, range(400)) if p.answer in problems.LETTERS]
        self.assertGreater(len(choices), 30)
        for problem in choices:
            bare, listed = problem.question.split(" A) ")
            options = dict(re.findall(r"([A-D])\) (\d+)", "A) " + listed))
            self.assertEqual([int(options[problem.answer])], answers(bare))


if __name__ == "__main__":
    unittest.main()
