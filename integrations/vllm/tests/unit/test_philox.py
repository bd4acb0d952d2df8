"""Random numbers against the committed values of HyPER's own tests."""

from __future__ import annotations

import math
import unittest

from goldens import HAS_TORCH, NO_TORCH, section

from vllm_hyper.philox import halves, philox, route_counter


class PhiloxTest(unittest.TestCase):
    def test_uniforms(self) -> None:
        purposes = {"sample": 0, "route": 1, "tie": 2, "step": 3}
        low, high = halves(int(section("random")["key"]))
        seen = 0
        for (position, purpose, a, b, c), wanted in section("random")["uniforms"]:
            if purpose in purposes:
                w0, w1, _, _ = philox(low, high, (position, purposes[purpose] | a << 8, b, c))
                self.assertEqual((((w1 << 32 | w0) >> 12) + 0.5) / 2.0**52, wanted)
                seen += 1
        self.assertGreaterEqual(seen, 5)

    def test_noise_of_routes(self) -> None:
        low, high = halves(int(section("random")["key"]))
        for position, layer, route, wanted in section("random")["gumbel"]:
            for expert, value in enumerate(wanted):
                words = philox(low, high, route_counter(position, layer, route, expert // 4))
                noise = -math.log(-math.log((words[expert % 4] + 0.5) / 2.0**32))
                self.assertAlmostEqual(noise, value, delta=1e-6)

    def test_halves_of_a_signed_key(self) -> None:
        self.assertEqual(halves(0x1234_5678_9ABC_DEF0), (0x9ABC_DEF0, 0x1234_5678))
        self.assertEqual(halves(2**64 - 1), (0xFFFF_FFFF, 0xFFFF_FFFF))


@unittest.skipUnless(HAS_TORCH, NO_TORCH)
class TorchNoiseTest(unittest.TestCase):
    def test_equals_the_goldens(self) -> None:
        import torch

        from vllm_hyper.routing import gumbel_noise

        low, high = halves(int(section("random")["key"]))
        cases = section("random")["gumbel"]
        width = max(len(wanted) for _, _, _, wanted in cases)
        noise = gumbel_noise(
            torch.full((len(cases),), low),
            torch.full((len(cases),), high),
            torch.tensor([case[0] for case in cases]),
            torch.tensor([case[2] for case in cases]),
            torch.tensor([case[1] for case in cases]),
            width,
        )
        self.assertEqual(noise.dtype, torch.float32)
        for i, (_, _, _, wanted) in enumerate(cases):
            found = noise[i, i, : len(wanted)]
            self.assertLess((found - torch.tensor(wanted)).abs().max().item(), 1e-6)


if __name__ == "__main__":
    unittest.main()
