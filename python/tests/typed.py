"""Checked by mypy: what a type checker must understand of the package. It is not run."""

import hyper_decode

model = hyper_decode.Model("file.gguf", threads=2, kv_type="q8_0")
result: hyper_decode.Result = model.ask(
    [{"role": "user", "content": "Why?"}], width=3, actions=["none", "branch"], vote="majority"
)
answer: str | None = result.answer
tokens: int = result.ledger.generated
shares: list[float | None] = [tally.share for tally in result.vote.scores]


class Mine(hyper_decode.Method):
    name = "mine"

    def start(self, pool: hyper_decode.PoolView) -> None:
        paths: list[hyper_decode.PathView] = pool.open(3)
        pool.grant(paths[0], 5)


hyper_decode.register(Mine)
model.start("Why?", method=Mine, records=True).cancel()
server = hyper_decode.Remote(["http://a/v1", "http://b/v1"], retries=3)
server.ask("Why?", width="three")  # type: ignore[arg-type]
server.ask("Why?", widht=3)  # type: ignore[call-arg]
