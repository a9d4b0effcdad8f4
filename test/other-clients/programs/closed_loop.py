"""A call is cancelled, and its loop is closed just when its thread answers; prints what the thread raised."""

import asyncio
import json
import threading
from typing import Any

from toolyard import AsyncToolyard

begun = threading.Event()
closed = threading.Event()
raised: list[str] = []
threading.excepthook = lambda args: raised.append(repr(args.exc_value))


class ClosedInBetween(asyncio.SelectorEventLoop):
    """What a thread does with it begins before it is closed, and goes on after that."""

    def is_closed(self) -> bool:
        return self._closed_meanwhile(super().is_closed())

    def call_soon_threadsafe(self, *args: Any, **context: Any) -> asyncio.Handle:
        self._closed_meanwhile(False)
        return super().call_soon_threadsafe(*args, **context)

    def _closed_meanwhile(self, answer: bool) -> bool:
        if threading.current_thread().name == "toolyard":
            begun.set()
            closed.wait()
        return answer


async def cancel_a_call() -> None:
    task = asyncio.create_task(AsyncToolyard("http://127.0.0.1:9", retry_seconds=600).tools())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


loop = ClosedInBetween()
loop.run_until_complete(cancel_a_call())
threads = [thread for thread in threading.enumerate() if thread.name == "toolyard"]
begun.wait()
loop.close()
closed.set()
for thread in threads:
    thread.join()
print(json.dumps({"threads": len(threads), "raised": raised}))
