"""Aggregation against the committed values of HyPER's own tests."""

from __future__ import annotations

import unittest

from goldens import HAS_TORCH, NO_TORCH, section

if HAS_TORCH:
    import torch

    from vllm_hyper.aggregate import aggregate

INF = float("inf")
NAN = float("nan")


@unittest.skipUnless(HAS_TORCH, NO_TORCH)
class AggregateTest(unittest.TestCase):
    def aggregated(self, rows: list[list[float]], dead: int = 0, **options: object):
        logits = torch.tensor([rows + [rows[0]] * dead])
        alive = torch.tensor([[True] * len(rows) + [False] * dead])
        temperature = torch.tensor([options.pop("temperature", 1.0)])
        out, weights = aggregate(logits, alive, temperature, **options)  # type: ignore[arg-type]
        return out[0], weights[0]

    def test_equals_the_goldens_with_and_without_dead_rows(self) -> None:
        for dead in (0, 3):
            for case in section("aggregate"):
                out, weights = self.aggregated(
                    case["rows"],
                    dead,
                    rule=case["rule"],
                    count=case["k"],
                    alternatives=case["alternatives"],
                    temperature=case["temperature"],
                )
                wanted = torch.tensor(case["weights"] + [0.0] * dead)
                self.assertLess((weights - wanted).abs().max().item(), 1e-5)
                self.assertLess((out - torch.tensor(case["out"])).abs().max().item(), 2e-5)

    def test_broken_routes_are_left_out(self) -> None:
        good = [1.0, 0.0, -1.0]
        for rule in ("confidence", "mean-prob"):
            alone, _ = self.aggregated([good], rule=rule)
            mixed, weights = self.aggregated([[NAN, 0.0, 1.0], good, [-INF] * 3], rule=rule)
            self.assertEqual(weights.tolist(), [0.0, 1.0, 0.0])
            self.assertLess((mixed - alone).abs().max().item(), 1e-6)
            none, weights = self.aggregated([[NAN, 0.0], [NAN, 0.0]], rule=rule)
            self.assertEqual(weights.tolist(), [0.0, 0.0])
            self.assertTrue(none.isnan().all())

    def test_a_masked_token_stays_masked(self) -> None:
        rows = [[1.0, -INF, 0.0, 0.5], [0.0, 2.0, 0.0, 0.5]]
        geometric, _ = self.aggregated(rows)
        self.assertEqual(geometric[1], -INF)
        self.assertAlmostEqual(geometric.exp().sum().item(), 1, delta=1e-6)
        mean, _ = self.aggregated(rows, rule="mean-prob")
        self.assertTrue(mean.isfinite().all())

    def test_no_candidate_gives_no_weight(self) -> None:
        out, weights = self.aggregated([[3.0], [4.0]])
        self.assertEqual(weights.tolist(), [0.0, 0.0])
        self.assertTrue(out.isnan().all())


if __name__ == "__main__":
    unittest.main()
