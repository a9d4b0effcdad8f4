from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from ._patience import Stop

Result = TypeVar("Result")


async def in_thread(work: Callable[[Stop], Result], stop: Stop | None = None) -> Result:
    """
    Runs blocking work in a thread of its own: any number can wait at once, and none keeps the interpreter from its end.
    When the task is cancelled, the work is ended.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    end = stop or Stop()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work(end)
        except BaseException as error:
            failure = error
        # Where the loop has been closed, be it just now, nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="toolyard", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        end.set()
        raise


async def each_in_thread(make: Callable[[Stop], Iterator[Result]]) -> AsyncIterator[Result]:
    """What blocking work gives one after the other. It is ended when nobody takes more of it."""
    stop = Stop()
    results = make(stop)
    try:
        while True:
            result = await in_thread(lambda _: next(results, None), stop)
            if result is None:
                return
            yield result
    finally:
        stop.set()
