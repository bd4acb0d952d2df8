import asyncio

import pytest
from conftest import QUESTION, SMALL

import hyper_decode


def test_a_stream_gives_the_records_of_its_run(model):
    async def listen():
        stream = model.stream(QUESTION, **SMALL)
        return [record async for record in stream], stream.result

    records, result = asyncio.run(listen())
    assert result.json == model.ask(QUESTION, **SMALL).json
    run = model.start(QUESTION, records=True, **SMALL)
    assert records == list(run.records())


def test_streams_run_side_by_side(model):
    async def listen(seed):
        stream = model.stream(QUESTION, **{**SMALL, "seed": seed})
        async for _ in stream:
            pass
        return stream.result

    async def all_of_them():
        return await asyncio.gather(*(listen(seed) for seed in range(12)))

    for seed, result in enumerate(asyncio.run(all_of_them())):
        assert result.votes == model.ask(QUESTION, **{**SMALL, "seed": seed}).votes


def test_leaving_the_loop_cancels_the_run(model):
    async def leave():
        stream = model.stream(QUESTION, method="sc", preset="short", width=64, seed=1)
        async for record in stream:
            assert record["record"] == "path"
            break
        return stream

    stream = asyncio.run(leave())
    result = stream.run.result()
    assert result.partial and "nobody reads" in result.partial_reason


def test_a_task_that_is_cancelled_cancels_its_run(model):
    async def cancel():
        stream = model.stream(QUESTION, method="sc", preset="short", width=64, seed=1)
        started = asyncio.Event()

        async def read():
            async for _ in stream:
                started.set()

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return stream

    assert asyncio.run(cancel()).run.result().partial


def test_an_error_comes_out_of_the_loop(model):
    async def listen():
        async for _ in model.stream(QUESTION, method="magic"):
            pass

    with pytest.raises(hyper_decode.NotFoundError):
        asyncio.run(listen())
