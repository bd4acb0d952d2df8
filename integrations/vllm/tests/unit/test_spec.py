"""What requests may ask for, and what they are told."""

from __future__ import annotations

import unittest
from typing import Any

from vllm_hyper.spec import Spec, SpecError, parse_spec


class SpecTest(unittest.TestCase):
    def test_nothing_asked(self) -> None:
        self.assertIsNone(parse_spec(None))
        self.assertIsNone(parse_spec({}))
        self.assertIsNone(parse_spec({"other": 1, "hyperbole": 2}))

    def test_defaults_are_those_of_hyper(self) -> None:
        self.assertEqual(
            parse_spec({"hyper_k": 4, "hyper_key": 7}),
            Spec(4, 7, 0.5, 0.1, True, "score", "confidence", 1.0, 8, "alternatives", (0, 0)),
        )

    def test_every_member(self) -> None:
        spec = parse_spec(
            {
                "hyper_k": 8,
                "hyper_key": 2**64 - 1,
                "hyper_tau": 1,
                "hyper_lambda": 0.25,
                "hyper_two_pass": 0,
                "hyper_penalty": "softmax",
                "hyper_weights": "noisy",
                "hyper_agg": "mean-prob",
                "hyper_agg_temperature": 0.5,
                "hyper_count": 20,
                "hyper_set": "top-k",
                "hyper_skip": [1, 2],
            }
        )
        self.assertEqual(
            spec,
            Spec(8, 2**64 - 1, 1.0, 0.25, False, "softmax", "mean-prob", 0.5, 20, "top-k", (1, 2)),
        )

    def test_numbers_as_json_brings_them(self) -> None:
        spec = parse_spec({"hyper_k": 4.0, "hyper_key": "18446744073709551615"})
        assert spec is not None
        self.assertEqual((spec.routes, spec.key), (4, 2**64 - 1))

    def test_one_route_needs_no_key(self) -> None:
        self.assertEqual(parse_spec({"hyper_k": 1}), Spec(1))

    def refused(self, arguments: dict[str, Any], *words: str) -> None:
        with self.assertRaises(SpecError) as caught:
            parse_spec(arguments)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_refused_with_the_reason(self) -> None:
        good = {"hyper_k": 4, "hyper_key": 7}
        self.refused({"hyper_key": 7}, "hyper_k", "missing")
        self.refused({"hyper_k": 4}, "hyper_key is missing")
        self.refused({**good, "hyper_q": 1}, "hyper_q is unknown", "hyper_tau")
        self.refused({**good, "hyper_weights": "clean"}, "only noisy")
        for name, values, takes in [
            ("hyper_k", [0, 257, 1.5, "four", "-1", None, [4], True], "an integer from 1 to 256"),
            ("hyper_key", [-1, 2**64, "0x12", 0.5], "an integer from 0 to 18446744073709551615"),
            ("hyper_tau", [-0.1, float("nan"), float("inf"), "0.5", True], "a number from 0"),
            ("hyper_lambda", [-0.1, [0.1]], "a number from 0"),
            ("hyper_two_pass", [2, "yes"], "an integer from 0 to 1"),
            ("hyper_penalty", ["scores", 1], "score or softmax"),
            ("hyper_agg", ["mean"], "confidence or mean-prob"),
            ("hyper_agg_temperature", [0, -1], "a number above 0"),
            ("hyper_count", [0], "an integer from 1"),
            ("hyper_set", ["all"], "alternatives or top-k"),
            ("hyper_skip", [1, [1], [1, 2, 3], "1,2"], "a list of two counts"),
            ("hyper_skip", [[-1, 0], [0, 0.5]], "an integer from 0"),
        ]:
            for value in values:
                with self.subTest(name=name, value=value):
                    self.refused({**good, name: value}, f"{name} is ", takes)


if __name__ == "__main__":
    unittest.main()
