"""Perturbation of router rows against the committed values, and of batches of groups."""

from __future__ import annotations

import unittest

from goldens import HAS_TORCH, NO_TORCH, section

from vllm_hyper.plan import Candidate, build_plan
from vllm_hyper.spec import Spec

if HAS_TORCH:
    import torch

    from vllm_hyper.philox import halves
    from vllm_hyper.routing import gumbel_noise, top_mask, two_pass
    from vllm_hyper.step import MoeLayers, Step


def one(value: float | bool) -> torch.Tensor:
    return torch.tensor([value])[:, None, None]


def perturbed(rows: torch.Tensor, noise: torch.Tensor, used: int, spec: Spec) -> torch.Tensor:
    softmax = spec.penalty == "softmax"
    return two_pass(
        rows[None],
        noise[None],
        used,
        one(spec.tau),
        one(spec.lambda_),
        one(spec.two_pass),
        one(softmax),
    )[0]


@unittest.skipUnless(HAS_TORCH, NO_TORCH)
class TwoPassTest(unittest.TestCase):
    def test_equals_the_goldens(self) -> None:
        seen = 0
        for case in section("routing"):
            if case["weights"] != "noisy":
                continue  # not offered inside vLLM
            noise = torch.tensor(case["noise"])
            noise[0] = 0
            spec = Spec(
                len(noise),
                tau=case["tau"],
                lambda_=case["lambda"],
                two_pass=case["two_pass"],
                penalty=case["penalty"],
            )
            out = perturbed(torch.tensor(case["rows"]), noise, case["m"], spec)
            self.assertLess((out - torch.tensor(case["out"])).abs().max().item(), 1e-5)
            chosen = top_mask(out, case["m"])
            for row, wanted in zip(chosen, case["chosen"], strict=True):
                self.assertEqual(row.nonzero().flatten().tolist(), sorted(wanted))
            seen += 1
        self.assertGreaterEqual(seen, 18)

    def test_of_equals_the_first_is_chosen_and_nan_is_least(self) -> None:
        nan = float("nan")
        rows = torch.tensor([[1.0, 2.0, 2.0, 2.0], [nan, -5.0, nan, -6.0]])
        self.assertEqual(top_mask(rows, 2).int().tolist(), [[0, 1, 1, 0], [0, 1, 0, 1]])


@unittest.skipUnless(HAS_TORCH, NO_TORCH)
class StepTest(unittest.TestCase):
    """A batch of two refined requests of different K among other rows."""

    layers = (0, 3)  # layer numbers; the model's others are dense
    experts = 6

    def setUp(self) -> None:
        self.specs = {
            0: Spec(3, key=11, tau=0.7, skip=(1, 0)),
            2: Spec(4, key=2**63 + 5, lambda_=0.4, penalty="softmax"),
        }
        candidates = [
            Candidate(0, 0, 30, self.specs[0]),
            Candidate(2, 6, 99, self.specs[2]),
        ]
        plan = build_plan(candidates, requests=4, tokens=8, room=10)
        assert plan is not None
        self.plan = plan
        self.step = Step(plan, MoeLayers(self.layers, self.experts, (2, 3)), torch.device("cpu"))
        self.logits = torch.randn(15, self.experts, generator=torch.Generator().manual_seed(1))

    def expected(self, ordinal: int, rows: list[int], position: int, spec: Spec) -> torch.Tensor:
        low, high = halves(spec.key)
        extra = len(rows) - 1
        noise = torch.zeros(len(rows), self.experts)
        noise[1:] = gumbel_noise(
            torch.full((extra,), low),
            torch.full((extra,), high),
            torch.full((extra,), position + 1),
            torch.arange(1, extra + 1),
            torch.tensor([self.layers[ordinal]]),
            self.experts,
        )[0]
        return perturbed(self.logits[rows], noise, (2, 3)[ordinal], spec)

    def test_groups_are_as_alone_and_the_rest_is_untouched(self) -> None:
        for ordinal in range(2):
            out = self.logits.clone()
            self.step.perturb(out, ordinal)
            short, long = [0, 8, 9], [6, 10, 11, 12]
            wanted = self.logits.clone()
            if ordinal >= self.specs[0].skip[0]:
                wanted[short[1:]] = self.expected(ordinal, short, 30, self.specs[0])[1:]
            wanted[long[1:]] = self.expected(ordinal, long, 99, self.specs[2])[1:]
            self.assertLess((out - wanted).abs().max().item(), 1e-6)
            # Bit for bit: real rows, route 0 and padding behind the extra rows.
            for row in (*range(8), 13, 14):
                self.assertTrue(torch.equal(out[row], self.logits[row]))
            self.assertFalse(torch.equal(out[12], self.logits[12]))

    def test_half_precision_is_kept(self) -> None:
        out = self.logits.bfloat16()
        self.step.perturb(out, 0)
        self.assertEqual(out.dtype, torch.bfloat16)
        self.assertTrue(torch.equal(out[6], self.logits.bfloat16()[6]))

    def test_aggregated_rows_take_the_place_of_the_roots(self) -> None:
        from vllm_hyper.aggregate import aggregate

        logits = torch.randn(9, 20, generator=torch.Generator().manual_seed(2))
        out = self.step.aggregate(logits)
        self.assertEqual(out.shape, (4, 20))
        for root, rows in ((0, [0, 4, 5]), (2, [2, 6, 7, 8])):
            wanted, _ = aggregate(
                logits[rows][None], torch.ones(1, len(rows), dtype=torch.bool), torch.ones(1)
            )
            self.assertLess((out[root] - wanted[0]).abs().max().item(), 1e-6)
        for plain in (1, 3):
            self.assertTrue(torch.equal(out[plain], logits[plain]))

    def test_rules_of_requests_are_kept_apart(self) -> None:
        from vllm_hyper.aggregate import aggregate

        specs = [Spec(2, 1), Spec(2, 1, aggregate="mean-prob"), Spec(2, 1, confidence_count=2)]
        plan = build_plan([Candidate(i, i, 5, s) for i, s in enumerate(specs)], 3, 3, 9)
        assert plan is not None
        step = Step(plan, MoeLayers((0,), self.experts, (2,)), torch.device("cpu"))
        logits = torch.randn(6, 20, generator=torch.Generator().manual_seed(3))
        out = step.aggregate(logits)
        for i, (rule, count) in enumerate((("confidence", 8), ("mean-prob", 8), ("confidence", 2))):
            wanted, _ = aggregate(
                logits[[i, 3 + i]][None],
                torch.ones(1, 2, dtype=torch.bool),
                torch.ones(1),
                rule,
                count,
            )
            self.assertLess((out[i] - wanted[0]).abs().max().item(), 1e-6)


if __name__ == "__main__":
    unittest.main()
