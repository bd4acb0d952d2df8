"""Models and servers, and the questions that they answer."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import pathlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable, Mapping, Sequence, Union

from . import _native
from ._errors import HyperError, InvalidArgumentError
from ._methods import Method, cause_of, default_texts
from ._options import takes, to_json
from ._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import EngineOptions, QuestionOptions, ServerOptions

# A question in words, or a conversation: [{"role": "user", "content": "..."}].
Question = Union[str, Sequence[Mapping[str, str]]]

_WAIT_S = 0.1  # how long a signal such as Ctrl-C may go unnoticed
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def bundled_model() -> str:
    """The path of the small model that travels with the package."""
    folder = pathlib.Path(__file__).parent / "models"
    return str(next(folder.glob("*.gguf")))


def _messages(question: Question) -> list[tuple[str, str]]:
    if isinstance(question, str):
        return [("user", question)]
    messages = [(message["role"], message["content"]) for message in question]
    if not messages:
        raise ValueError("the conversation has no message; give it at least one of the user")
    return messages


class Run:
    """A question that is being answered. Any thread may wait for it or cancel it."""

    def __init__(self, native: _native.Run, engine: Engine) -> None:
        self._native = native
        self._engine = engine  # alive as long as its run

    def _refuse_to_wait(self) -> None:
        if self._engine._native.on_its_thread() and not self.done:
            raise RuntimeError(
                "a method cannot wait for a run of the model that runs it: the run goes on when the "
                "method returns; start() it and look at `done` in a later call, or ask another Model"
            )

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._native.wait(0.0)

    def cancel(self, reason: str = "cancelled") -> None:
        """Ends it soon. Its result is then the vote so far, marked partial."""
        self._native.cancel(reason)

    def result(self, timeout: float | None = None) -> Result:
        """Waits until it is over and returns the result.

        Raises TimeoutError where it is not over after `timeout` seconds; the run goes on. On Ctrl-C
        the run is cancelled and KeyboardInterrupt raised.
        """
        self._refuse_to_wait()
        left = float("inf") if timeout is None else max(timeout, 0.0)
        try:
            while not self._native.wait(min(left, _WAIT_S)):
                left -= _WAIT_S
                if left <= 0:
                    raise TimeoutError(f"the run is not over after {timeout} s; it goes on")
        except KeyboardInterrupt:
            self.cancel("interrupted")
            while not self._native.wait(_WAIT_S):
                pass
            raise
        try:
            return Result.from_text(self._native.report())
        except HyperError as error:
            # What a method in Python raised is where the error comes from.
            raise error from cause_of(str(error))

    def records(self) -> Iterable[dict[str, Any]]:
        """Its records as they happen, until it is over. Of a run that was started with
        records=True."""
        self._refuse_to_wait()
        while True:
            over = self._native.wait(0.0)
            records = self._native.take_records(_WAIT_S)
            for record in records:
                yield json.loads(record)
            if over and not records:
                return


class Stream:
    """Records of a run for `async for`. `result` is there once the stream has ended."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.result: Result | None = None
        self._queue: asyncio.Queue[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def _begin(self) -> asyncio.Queue[Any]:
        loop = self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue()

        def put(item: Any) -> bool:
            try:
                loop.call_soon_threadsafe(queue.put_nowait, item)
            except RuntimeError:  # the loop was closed: nobody listens any more
                self.run.cancel("nobody reads its records")
                return False
            return True

        def pump() -> None:
            try:
                for record in self.run.records():
                    if not put(record):
                        return
                put(self.run.result())
            except Exception as error:  # noqa: BLE001: raised where the records are read
                put(error)

        threading.Thread(target=pump, name="hyper_decode stream", daemon=True).start()
        return queue

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        if self.result is not None:
            return
        if self._queue is None:
            self._queue = self._begin()
        if self._loop is not asyncio.get_running_loop():
            raise RuntimeError("the stream has been read in another event loop")
        try:
            while True:
                item = await self._queue.get()
                if isinstance(item, (Result, Exception)):
                    self._queue.put_nowait(item)  # whoever else reads it ends too
                if isinstance(item, Result):
                    self.result = item
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.run.cancel("nobody reads its records")  # does nothing where it is over

    def cancel(self, reason: str = "cancelled") -> None:
        """Ends the run soon. The stream ends with it."""
        self.run.cancel(reason)


class Engine:
    """What decodes. Questions of several threads share each forward of the model."""

    def __init__(self, native: _native.Engine) -> None:
        self._native = native
        _engines.add(self)

    @property
    def about(self) -> dict[str, Any]:
        """What the model is and what the engine can do."""
        about: dict[str, Any] = json.loads(self._native.about())
        return about

    @takes("question")
    def ask(self, question: Question, **options: Unpack[QuestionOptions]) -> Result:
        """Answers a question and returns the result. Other threads run meanwhile.

        method may also be a class of your own, and reward a function that values steps: see Method
        and docs/your-own-method.md.
        """
        return self._start("ask", question, options, records=False).result()

    @takes("question")
    def start(
        self, question: Question, *, records: bool = False, **options: Unpack[QuestionOptions]
    ) -> Run:
        """Begins to answer a question; returns at once."""
        return self._start("start", question, options, records=records)

    @takes("question")
    def stream(self, question: Question, **options: Unpack[QuestionOptions]) -> Stream:
        """Begins to answer a question. `async for` over it gives the records as they happen.

        The run is cancelled where the loop is left early.
        """
        return Stream(self._start("stream", question, options, records=True))

    def _start(
        self, caller: str, question: Question, options: Mapping[str, Any], records: bool
    ) -> Run:
        options = dict(options)
        reward = options.pop("reward") if callable(options.get("reward")) else None
        method = options.get("method")
        own: tuple[Any, ...] = ()
        if isinstance(method, type) and issubclass(method, Method):
            if reward is not None:
                raise InvalidArgumentError(
                    "reward values the steps of a built-in method; a class of your own has none"
                )
            options["method"] = method.base
            own = (method.name or method.__name__, default_texts(method), method)
        text = to_json("question", options, caller)
        return Run(self._native.start(_messages(question), text, records, reward, *own), self)

    def close(self) -> None:
        """Frees the model. Runs that are not over end with CancelledError."""
        self._native.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.about['name']!r})"


class Model(Engine):
    """A GGUF model in this process. Without a path it is the bundled model."""

    @takes("model")
    def __init__(
        self, path: str | os.PathLike[str] | None = None, **options: Unpack[EngineOptions]
    ) -> None:
        """Loads a GGUF file."""
        file = bundled_model() if path is None else os.fspath(path)
        super().__init__(_native.open_model(file, to_json("model", options, "Model")))


class Remote(Engine):
    """A model on servers with an OpenAI API, such as vLLM, SGLang or llama-server."""

    @takes("server")
    def __init__(
        self,
        url: str | Sequence[str],
        *,
        model: str = "",
        api_key: str = "",
        **options: Unpack[ServerOptions],
    ) -> None:
        """Connects to the server of a URL such as http://host:8000/v1, or to several replicas.

        model: as the servers name it; empty: the first that they list.
        api_key: the bearer token; it is never part of a message or record.
        """
        urls = [url] if isinstance(url, str) else list(url)
        text = to_json("server", options, "Remote")
        super().__init__(_native.open_servers(urls, model, api_key, text))


@atexit.register
def _close_all() -> None:
    for engine in list(_engines):
        engine.close()
