"""A method of your own: windows of paths until one window agrees (ESC, arXiv:2401.10480).

    esc.py [QUESTION]
    hyper run --plugin esc.py --method my-esc QUESTION
"""

import sys

import hyper_decode


@hyper_decode.register
class EarlyStop(hyper_decode.Method):
    """Windows of paths until all answers of one window agree."""

    name = "my-esc"
    base = "esc"  # it reads the options of esc, such as esc_window

    def start(self, pool):
        self.open_window(pool)

    def open_window(self, pool):
        if pool.paths:
            pool.begin_phase()  # these paths come after the others, not beside them
        left = pool.option("width") - len(pool.paths)
        self.window = pool.open(min(pool.option("esc_window"), left))
        pool.grant_all(pool.option("interval"))

    def on_settled(self, pool):
        if pool.running:
            pool.grant_all(pool.option("interval"))
        else:
            self.open_window(pool)

    def done(self, pool):
        if pool.running:
            return False
        answers = {path.answer for path in self.window}
        agreed = len(answers) == 1 and None not in answers
        return agreed or len(pool.paths) >= pool.option("width")


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "Start with 12, add 7, multiply by 5. What is the result?"
    result = hyper_decode.Model().ask(question, method="my-esc", preset="short", seed=7)
    print(result.answer, "after", len(result.paths), "paths")
