"""Which rows a forward gets."""

from __future__ import annotations

import unittest

from vllm_hyper.plan import Candidate, block_row, build_plan, scratch_block, share
from vllm_hyper.spec import Spec


def candidate(request: int, routes: int, token: int | None = None) -> Candidate:
    return Candidate(request, request if token is None else token, 40 + request, Spec(routes, 1))


class ShareTest(unittest.TestCase):
    def test_all_fits(self) -> None:
        self.assertEqual(share([3, 7, 1], 11), [3, 7, 1])
        self.assertEqual(share([], 0), [])

    def test_the_largest_are_cut_first_and_of_equals_the_last(self) -> None:
        self.assertEqual(share([3, 7, 1], 8), [3, 4, 1])
        self.assertEqual(share([3, 3, 3], 8), [3, 3, 2])
        self.assertEqual(share([3, 7, 1], 2), [1, 1, 0])
        self.assertEqual(share([3, 3], -1), [0, 0])


class PlanTest(unittest.TestCase):
    def test_none_without_refinement(self) -> None:
        self.assertIsNone(build_plan([], 3, 9, 10))
        self.assertIsNone(build_plan([candidate(0, 1)], 3, 9, 10))

    def test_rows_follow_the_real_ones(self) -> None:
        plan = build_plan([candidate(0, 4), candidate(1, 1), candidate(2, 2, 7)], 3, 8, 10)
        assert plan is not None
        self.assertEqual((plan.requests, plan.tokens, plan.count, plan.capped), (3, 8, 4, 0))
        self.assertEqual(
            [(g.candidate.request, g.routes, g.first) for g in plan.groups], [(0, 4, 0), (2, 2, 3)]
        )
        self.assertEqual(
            [(row.candidate.token, row.route) for row in plan.extra],
            [(0, 1), (0, 2), (0, 3), (7, 1)],
        )

    def test_no_room(self) -> None:
        plan = build_plan([candidate(0, 4), candidate(1, 4)], 2, 2, 1)
        assert plan is not None
        self.assertEqual([(g.candidate.request, g.routes) for g in plan.groups], [(0, 2)])
        self.assertEqual((plan.count, plan.capped), (1, 5))
        full = build_plan([candidate(0, 4)], 1, 1, 0)
        assert full is not None
        self.assertEqual((full.groups, full.count, full.capped), ((), 0, 3))


class BlockTest(unittest.TestCase):
    def test_the_last_block_is_replaced(self) -> None:
        root = [5, 9, 2, 0, 0]
        self.assertEqual(block_row(root, 0, 32, 77), [77])
        self.assertEqual(block_row(root, 31, 32, 77), [77])
        self.assertEqual(block_row(root, 32, 32, 77), [5, 77])
        self.assertEqual(block_row(root, 64, 32, 77), [5, 9, 77])

    def test_scratch_blocks_are_the_last_and_apart(self) -> None:
        blocks = {scratch_block(100, 6, 2, row, group) for row in range(6) for group in range(2)}
        self.assertEqual(blocks, set(range(88, 100)))


if __name__ == "__main__":
    unittest.main()
