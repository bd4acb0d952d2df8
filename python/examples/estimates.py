"""A suite, a grader and a table of your own: answers that are known to the nearest ten.

hyper eval --plugin estimates.py --suite estimates --methods sc,hyper --table results,spending
"""

import subprocess
import sys

import hyper_decode

hyper_decode.register_suite(
    {
        "name": "estimates",
        "title": "Sums to the nearest ten",
        "answer": "integer",
        "prompt": "{question}",
        "preset": "short",
    },
    [
        {
            "question": f"Start with {n}, add 7, multiply by 5. What is the result?",
            "answer": round((n + 7) * 5, -1),
        }
        for n in range(12, 18)
    ],
)


@hyper_decode.register_grader("nearest-ten", suites=["estimates"])
def nearest_ten(asked):
    """Right where the answer is at most 5 from the gold."""
    try:
        return abs(float(asked["answer"]) - float(asked["gold"])) <= 5
    except ValueError:
        return hyper_decode.equal(asked["gold"], asked["answer"])


@hyper_decode.register_table("spending")
def spending(rows):
    """Effective tokens of right answers and of others, a line for each row of the study."""

    def mean(row, right):
        costs = [
            answer["ledger"]["effective"]
            for answer in row["answers"]
            if (answer["outcome"] == "right") == right
        ]
        return sum(costs) / len(costs) if costs else None

    return {
        "title": "Effective tokens of an answer",
        "columns": ["Row", "Right", "Other"],
        "rows": [[row["label"], mean(row, True), mean(row, False)] for row in rows],
    }


if __name__ == "__main__":
    command = [sys.executable, "-m", "hyper_decode", "eval", "--plugin", __file__]
    command += ["--suite", "estimates", "--methods", "sc", "--width", "4", "--align", "off"]
    subprocess.run([*command, "--seed", "7", "--table", "results,spending"], check=True)
