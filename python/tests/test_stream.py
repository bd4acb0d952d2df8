import asyncio
import subprocess
import sys

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


def test_an_error_comes_to_whoever_reads(model):
    async def listen():
        stream = model.stream(QUESTION, method="magic")
        for _ in range(2):
            with pytest.raises(hyper_decode.NotFoundError):
                async for _ in stream:
                    pass

    asyncio.run(asyncio.wait_for(listen(), 60))


def test_two_readers_of_a_stream_both_end(model):
    async def listen():
        stream = model.stream(QUESTION, **SMALL)

        async def read():
            return [record async for record in stream]

        return await asyncio.gather(read(), read()), stream.result

    (one, other), result = asyncio.run(asyncio.wait_for(listen(), 60))
    run = model.start(QUESTION, records=True, **SMALL)
    assert len(one) + len(other) == len(list(run.records()))
    assert result.answer == run.result().answer


def test_a_stream_stays_in_its_event_loop(model):
    stream = model.stream(QUESTION, method="sc", preset="short", width=64, seed=1)

    async def read():
        async for _ in stream:
            return

    asyncio.run(read())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(asyncio.wait_for(read(), 60))


def test_ctrl_c_ends_a_program_that_reads_streams():
    script = f"""
import asyncio, os, signal, hyper_decode
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
model = hyper_decode.Model(threads=1)
async def read(seed):
    first = True
    async for _ in model.stream({QUESTION!r}, method="sc", preset="short", width=64, seed=seed):
        if first and seed == 0:
            os.kill(os.getpid(), signal.SIGINT)
        first = False
async def main():
    await asyncio.gather(*(read(seed) for seed in range(3)))
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
print(model.ask({QUESTION!r}, preset="short", width=4, warmup=2, seed=7).answer)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["interrupted", "95"], done.stderr
