"""What both clients do with sessions and files. Each function runs in the thread of a caller, who may end it through `stop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._file_types import FileList, PutFile, SessionList, SessionView, Unpacked
from ._path import path_segment, require_text
from ._patience import Stop
from ._transport import FileBody, Transport

_ARCHIVE = {"archive": "tar"}


def make_session(transport: Transport, stop: Stop, session: dict[str, Any]) -> SessionView:
    given = {name: value for name, value in session.items() if value is not None}
    answer: SessionView = transport.send("POST", "/v1/sessions", stop, body=given)["session"]
    return answer


def get_session(transport: Transport, stop: Stop, session_id: str) -> SessionView:
    answer: SessionView = transport.send("GET", session_path(session_id), stop)["session"]
    return answer


def list_sessions(transport: Transport, stop: Stop, query: dict[str, object]) -> SessionList:
    answer: SessionList = transport.send("GET", "/v1/sessions", stop, query=query)
    return answer


def remove_session(transport: Transport, stop: Stop, session_id: str) -> SessionView:
    answer: SessionView = transport.send("DELETE", session_path(session_id), stop)["session"]
    return answer


def put(transport: Transport, stop: Stop, address: str, content: FileBody) -> PutFile:
    answer: PutFile = transport.send("PUT", address, stop, content=_body(content))["file"]
    return answer


def get(transport: Transport, stop: Stop, address: str) -> bytes:
    return transport.whole(address, stop)


def stream(transport: Transport, stop: Stop, address: str) -> Iterator[bytes]:
    return transport.pieces(address, stop)


def list_files(transport: Transport, stop: Stop, address: str, query: dict[str, object]) -> FileList:
    answer: FileList = transport.send("GET", address, stop, query={**query, "list": "true"})
    return answer


def remove(transport: Transport, stop: Stop, address: str, recursive: bool) -> None:
    transport.change("DELETE", address, stop, "NOT_FOUND", {"recursive": "true" if recursive else None})


def stream_archive(transport: Transport, stop: Stop, address: str) -> Iterator[bytes]:
    return transport.pieces(address, stop, _ARCHIVE)


def put_archive(transport: Transport, stop: Stop, address: str, content: FileBody) -> Unpacked:
    answer: Unpacked = transport.send("PUT", address, stop, query=_ARCHIVE, content=_body(content))["archive"]
    return answer


def _body(content: FileBody) -> FileBody:
    # Files that are open for text have an encoding.
    is_file = all(hasattr(content, name) for name in ("read", "seekable")) and not hasattr(content, "encoding")
    if is_file or isinstance(content, (str, bytes, bytearray, memoryview)):
        return content
    raise TypeError(f"The content of a file is a str, bytes, or a file that is open for reading bytes, not {type(content).__name__}")


def session_path(session_id: str) -> str:
    return f"/v1/sessions/{path_segment(session_id)}"


def file_path(base: str, path: str) -> str:
    require_text(path, "The path of a file")
    names = [name for name in path.split("/") if name != ""]
    end = "/" if names and path.endswith("/") else ""
    return "/".join([base, *(path_segment(name) for name in names)]) + end
