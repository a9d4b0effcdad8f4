"""What test/other-clients/python.test.ts has the Python clients do; prints what came of it as JSON."""

import asyncio
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolyard import (
    AsyncFiles,
    AsyncJobs,
    AsyncSessions,
    AsyncToolyard,
    Files,
    Jobs,
    Sessions,
    ToolError,
    Toolyard,
    ToolyardError,
)

workspace = Path(sys.argv[1])
seen: dict[str, Any] = {}


def failure(act: Callable[[], Any]) -> dict[str, Any]:
    try:
        act()
    except ToolyardError as error:
        found = {**vars(error), "type": type(error).__name__}
        return {name: value for name, value in found.items() if value is not None}
    return {}


def write_soon(path: Path) -> None:
    def write() -> None:
        while not path.with_name(f"{path.name}.runs").exists():
            time.sleep(0.01)
        path.touch()

    threading.Thread(target=write).start()


toolyard = Toolyard()
seen["call"] = toolyard.call("add", {"a": 1, "b": 2})
seen["long"] = len(toolyard.call("long")["text"])
seen["failed"] = failure(lambda: toolyard.call("fail"))
seen["unknown"] = failure(lambda: toolyard.call("no_such_tool"))
seen["refused"] = failure(lambda: Toolyard(api_key="another-key-0123456789").tools())
seen["line_break"] = Toolyard(api_key=f"{os.environ['TOOLYARD_API_KEY']}\n").call("add", {"a": 1, "b": 2})
try:
    Toolyard(api_key="a-secret\nkey")
except ValueError as error:
    seen["unsendable"] = str(error)
seen["away"] = failure(lambda: Toolyard("http://127.0.0.1:9", retry_seconds=0.3).tools())

waited = workspace / "py-waited"
write_soon(waited)
seen["waited"] = toolyard.call("wait_for", {"file": str(waited)}, wait=0.1)
late = failure(lambda: toolyard.call("wait_for", {"file": str(workspace / "py-never")}, timeout=0.15))
seen["late"] = late["code"]
seen["cancelled"] = [toolyard.cancel(late["job_id"])["status"] for _ in range(2)]

job = toolyard.jobs.submit("agentcli.fail", tags=["py"], idempotency_key="py-once")
seen["same"] = toolyard.jobs.submit("agentcli.fail", tags=["py"], idempotency_key="py-once")["id"] == job["id"]
seen["listed"] = [each["id"] for each in toolyard.jobs.list(tag="py", limit=5)["jobs"]] == [job["id"]]
*_, end = toolyard.follow(job)
seen["end"] = [end["type"], end["job"]["status"]] if end["type"] == "end" else None
seen["logs"] = len(toolyard.jobs.logs(job["id"], tail=1))

followed = workspace / "py-followed"
write_soon(followed)
events = list(toolyard.follow(toolyard.jobs.submit("agentcli.wait_for", {"file": str(followed)})))
seen["lines"] = [event["entry"]["message"] for event in events if event["type"] == "log"]
seen["types"] = sorted({event["type"] for event in events})


async def use_async() -> None:
    client = AsyncToolyard()
    sums = await asyncio.gather(*(client.call("add", {"a": number, "b": 1}) for number in range(10)))
    seen["async_calls"] = [each["sum"] for each in sums]
    submitted = await client.jobs.submit("agentcli.wait_for", {"file": str(workspace / "py-async")})
    task = asyncio.create_task(client.call("wait_for", {"file": str(workspace / "py-async-2")}))
    while not (workspace / "py-async-2.runs").exists():
        await asyncio.sleep(0.01)
    task.cancel()
    seen["async_cancelled"] = isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
    while any(thread.name == "toolyard" for thread in threading.enumerate()):
        await asyncio.sleep(0.01)
    (cancelled,) = (await client.jobs.list(tool="wait_for", limit=1))["jobs"]
    seen["async_thread_ends"] = cancelled["status"]
    async for event in client.follow(submitted):
        if event["type"] == "log" and event["entry"]["message"] == "began":
            (workspace / "py-async").touch()
        if event["type"] == "end":
            seen["async_end"] = event["job"]["result"]
    try:
        await client.call("fail")
    except ToolError as error:
        seen["async_failed"] = [error.code, error.message]


asyncio.run(use_async())


def surface(of: type) -> dict[str, str]:
    methods = inspect.getmembers(of, inspect.isfunction)
    return {name: str(inspect.signature(method).replace(return_annotation="")) for name, method in methods if name[0] != "_"}


seen["same_surface"] = surface(Toolyard) == surface(AsyncToolyard) and surface(Jobs) == surface(AsyncJobs)
seen["same_surface_of_files"] = surface(Sessions) == surface(AsyncSessions) and surface(Files) == surface(AsyncFiles)
print(json.dumps(seen), flush=True)
others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
for thread in others:
    # One that has given its result may not have ended yet.
    thread.join(60)
if any(thread.is_alive() for thread in others):
    print("a thread is left", file=sys.stderr, flush=True)
    os._exit(1)
