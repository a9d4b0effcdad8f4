"""What test/other-clients/python-sessions.test.ts has the Python clients do; prints what came of it as JSON."""

import asyncio
import io
import json
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from toolyard import AsyncToolyard, Toolyard, ToolyardError

seen: dict[str, Any] = {}
PIECE = b"0123456789abcdef" * 4096


def failure(act: Callable[[], Any]) -> list[Any]:
    try:
        act()
    except ToolyardError as error:
        return [error.code, error.status]
    return []


class Endless(io.RawIOBase):
    """A body without a length and without a way back, as a pipe is; it fails when it is read twice."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


class Unreadable(io.BytesIO):
    def read(self, size: Any = -1) -> bytes:
        raise PermissionError("the disk is asleep")


def unreadable() -> str:
    try:
        files.put("never", Unreadable(b"x"))
    except OSError as error:
        return str(error)
    return ""


def archive_of(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def wrong_type(act: Callable[[], Any]) -> str:
    try:
        act()
    except TypeError as error:
        return str(error)
    return ""


toolyard = Toolyard()
session = toolyard.sessions.make(ttl_sec=600, quota_bytes=20_000_000)
identity = session["id"]
seen["made"] = [session["state"], session["quota_bytes"], session["from"]]
files = toolyard.sessions.files(identity)
seen["put"] = files.put("in.txt", "some text")["size"]
toolyard.call("upper", session=identity)
seen["changed"] = files.get("out.txt").decode()
seen["names"] = [entry["name"] for entry in files.list()["entries"]]
job = toolyard.jobs.submit("agentcli.upper", session=identity)
seen["job"] = toolyard.jobs.get(job["id"]).get("session")
message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "upper", "arguments": "{}"}}]}
seen["invoked"] = len(toolyard.invoke(message, session=identity))
seen["refused_call"] = failure(lambda: toolyard.call("upper", session="01a00000-0000-7000-8000-000000000000"))

seen["streamed"] = files.put("large", Endless(iter([PIECE] * 100)))["size"]
seen["whole"] = files.put("from file", io.BytesIO(PIECE * 3))["size"]
seen["pieces"] = [sum(map(len, files.stream("large"))), all(len(piece) <= 65536 for piece in files.stream("large"))]
seen["slash"] = failure(lambda: files.put("new/", "x"))
untyped: Any = toolyard
with open(__file__) as text_file:
    given: list[Any] = [5, None, {}, text_file]
    puts = [partial(put, "never", content) for content in given for put in (files.put, files.put_archive)]
    seen["no_content"] = [wrong_type(act) for act in puts]
seen["no_text"] = [
    wrong_type(act)
    for act in (
        lambda: untyped.files.get(5),
        lambda: untyped.jobs.get(None),
        lambda: next(untyped.follow(5)),
        lambda: untyped.cancel(5),
    )
]
seen["no_object"] = failure(lambda: untyped.call("upper", []))
seen["too_large"] = failure(lambda: files.put("over", io.BytesIO(bytes(30_000_000))))
seen["too_long"] = failure(lambda: files.put("over", Endless(iter([PIECE] * 1000))))
seen["unreadable"] = unreadable()

archive = b"".join(files.get_archive())
with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
    seen["archived"] = sorted(opened.getnames())
seen["unpacked"] = files.put_archive("copy here", archive_of("a b", b"xyz"))
seen["copied"] = files.get("copy here/a b").decode()
seen["not_empty"] = failure(lambda: files.remove("copy here"))
files.remove("copy here", recursive=True)
seen["gone"] = failure(lambda: files.get("copy here/a b"))
seen["up"] = [failure(lambda path=path: files.remove(path)) for path in ("..", ".", "a/../..", "./in.txt")]  # type: ignore[misc]
acts = (toolyard.sessions.files, toolyard.sessions.get, toolyard.sessions.remove, toolyard.jobs.get)
names = [(act, name) for name in ("..", ".", "", "\ud800") for act in acts]
seen["no_id"] = [failure(lambda act=act, name=name: act(name)) for act, name in names]  # type: ignore[misc]
seen["listed"] = any(each["id"] == identity for each in toolyard.sessions.list()["sessions"])
toolyard.files.put("a/b #1?.txt", b"x")
seen["shared"] = [entry["path"] for entry in toolyard.files.list("a")["entries"]]


async def use_async() -> None:
    client = AsyncToolyard()
    made = await client.sessions.make()
    own = client.sessions.files(made["id"])
    await own.put("in.txt", b"more text")
    await client.call("upper", session=made["id"])
    seen["async_changed"] = (await own.get("out.txt")).decode()
    await own.put("large", io.BytesIO(PIECE * 20))
    seen["async_pieces"] = sum([len(piece) async for piece in own.stream("large")])
    pieces = own.stream("large")
    await pieces.__anext__()
    await pieces.aclose()  # type: ignore[attr-defined]
    archive = b"".join([piece async for piece in own.get_archive()])
    seen["async_unpacked"] = (await own.put_archive("copy", archive))["files"]
    seen["async_removed"] = [(await client.sessions.remove(made["id"]))["state"], (await client.sessions.get(identity))["state"]]


asyncio.run(use_async())
seen["removed"] = toolyard.sessions.remove(identity)["state"]
json.dump(seen, sys.stdout)
