"""Watches two questions being answered side by side."""

import asyncio

import hyper_decode

QUESTIONS = [
    "Start with 12, add 7, multiply by 5. What is the result?",
    "Two numbers differ by 7 and their product is 330. What is the larger number?",
]


async def watch(model: hyper_decode.Model, question: str) -> None:
    stream = model.stream(question, preset="short", seed=7)
    async for record in stream:
        if record["record"] == "decision" and record["acted"]:
            print(f"{record['position']:4} tokens: {record['action']}")
    print(question, "->", stream.result.answer)


async def main() -> None:
    with hyper_decode.Model() as model:
        await asyncio.gather(*(watch(model, question) for question in QUESTIONS))


asyncio.run(main())
