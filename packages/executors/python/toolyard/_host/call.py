"""
One call, in a process of its own.

    worker: {"class", "name", "description", "config", "arguments", "cwd", "max_bytes"}, and perhaps "env", variables of
            this call, "handed", texts by the variables that name their files, "answers", JSON of what it has asked
            before, and "files", true: paths and bytes are returned as files; null for arguments: only construct it, and
            return the signature of its execute, if any byte of it is wanted
    call:   {"returned": 17}, then its JSON as a frame, cut at max_bytes; 17 is the whole size
            {"failed": {"code", "message", "type", "network"}}; network: whether it comes of a network that is not there
            nothing: the tool ended the process itself, and how it ended is the result
"""

from __future__ import annotations

import os
from contextlib import suppress

from .classes import ClassNotFound, find_class
from .errors import describe, is_of_network, print_traceback
from .streams import flush_streams
from .values import NotJson, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .channel import Channel


# Characters of an error's message and of its type; the worker shows fewer.
_MAX_MESSAGE, _MAX_TYPE = 10_000, 200


class Failed(Exception):
    """Why a call has no output."""

    def __init__(self, code: str, message: str, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        kind = None if cause is None else type(cause).__name__[:_MAX_TYPE]
        network = cause is not None and is_of_network(cause)
        self.report = {"code": code, "message": message[:_MAX_MESSAGE], "type": kind, "network": network}


def run_call(module: ModuleType, channel: Channel, root: str) -> int:
    """Runs the tool once and sends what it returned; returns the exit status of the process. `root` is where the module is from."""
    request = channel.receive()
    if request is None:
        return 1
    process = os.getpid()
    output, failure = None, None
    try:
        output = _run(module, request)
    except Failed as failed:
        failure = failed
        if failed.cause is not None:
            print_traceback(failed.cause, root)
    except SystemExit as leaving:  # With a number, or none.
        return int(leaving.code or 0) & 0xFF
    finally:
        flush_streams()
    # A fork that the tool made and that came back from execute as well: the answer is not its own to give.
    if os.getpid() != process:
        return 1
    if failure is not None:
        channel.send({"failed": failure.report})
    if output is None:
        return 1
    channel.send({"returned": len(output)})
    channel.send_bytes(memoryview(output)[: request["max_bytes"]])
    return 0


def _run(module: ModuleType, request: dict[str, Any]) -> bytes:
    try:
        os.chdir(request["cwd"])
    except OSError as error:
        raise Failed("TOOL_UNAVAILABLE", f"the working directory cannot be entered: {error.strerror}") from None
    os.environ.update(request.get("env", {}))
    _hand(request.get("handed", {}))
    tool = _construct(module, request)
    if request["arguments"] is None:
        return _signature(tool) if request["max_bytes"] else b"null"
    _answer(tool, request.get("answers", []))
    value = _execute(tool, request["arguments"])
    try:
        return to_json(value, request.get("files", False))
    except NotJson as error:
        raise Failed("OUTPUT_INVALID", str(error)) from None
    except Exception as error:  # From a method of the value: __fspath__, tolist, a property of a dataclass.
        raise Failed("OUTPUT_INVALID", f"the output cannot be turned into JSON: {describe(error)}", error) from None


def _hand(texts: dict[str, str]) -> None:
    """In memory: nothing is left of them when the call has ended. Processes that it starts find them, too."""
    for variable, text in texts.items():
        descriptor = os.memfd_create("handed")
        with open(descriptor, "w", encoding="utf-8", newline="", closefd=False) as file:
            file.write(text)
        os.environ[variable] = f"/proc/{os.getpid()}/fd/{descriptor}"


def _answer(tool: Any, answers: list[str]) -> None:
    """A class of another project may have no room for them."""
    with suppress(AttributeError, TypeError):
        tool.answers = _read(answers) if answers else []


def _read(answers: list[str]) -> list[Any]:
    import json

    return [json.loads(answer) for answer in answers]


def _find_class(module: ModuleType, request: dict[str, Any]) -> type:
    try:
        return find_class(module, request["class"])
    except ClassNotFound as error:
        raise Failed("TOOL_UNAVAILABLE", str(error)) from None


def _construct(module: ModuleType, request: dict[str, Any]) -> Any:
    tool_class = _find_class(module, request)
    try:
        return tool_class(request["name"], request["description"], request["config"])
    except BaseException as error:
        message = f"class '{tool_class.__name__}' cannot be constructed: {describe(error)}"
        raise Failed("TOOL_UNAVAILABLE", message, error) from None


def _signature(tool: Any) -> bytes:
    """The parameters of `execute`, without annotations and defaults, which are the tool's own; null where they can't be told."""
    import inspect

    try:
        if getattr(tool.execute, "__module__", None) == "toolyard.tool":
            return to_json([{"name": "execute", "kind": "INHERITED", "optional": False}])
        parameters = inspect.signature(tool.execute).parameters.values()
        return to_json([{"name": each.name, "kind": each.kind.name, "optional": each.default is not each.empty} for each in parameters])
    except Exception:
        return b"null"


def _execute(tool: Any, arguments: dict[str, Any]) -> Any:
    try:
        value = tool.execute(**arguments)
        return _wait(value) if hasattr(type(value), "__await__") else value
    except BaseException as error:
        if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
            raise
        raise Failed("TOOL_FAILED", describe(error), error) from None


def _wait(awaitable: Any) -> Any:
    import asyncio  # The template has imported it where `execute` is a coroutine.

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())
