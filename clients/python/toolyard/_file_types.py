"""What the HTTP API gives of sessions and their files. test/other-clients/python-types.test.ts holds that it agrees with the contract."""

from __future__ import annotations

from typing import Literal, Optional, TypedDict

# `from` is a keyword of Python.
_SessionOrigin = TypedDict("_SessionOrigin", {"from": Optional[str]})


class SessionView(_SessionOrigin):
    """A session: a workspace of one tenant; `from` is the template that its files began as."""

    id: str
    tenant: str | None
    key: str
    state: Literal["open", "removing"]
    ttl_sec: int
    quota_bytes: int
    used_bytes: int | None
    created_at: str
    last_used_at: str
    expires_at: str


class SessionList(TypedDict):
    """A page of sessions, newest first; `next_cursor` is None on the last one."""

    ok: Literal[True]
    sessions: list[SessionView]
    count: int
    next_cursor: str | None


class PutFile(TypedDict):
    """A file that was put."""

    path: str
    size: int
    type: str
    sha256: str
    etag: str


class Unpacked(TypedDict):
    """What came out of an archive."""

    path: str
    files: int
    directories: int
    bytes: int


class FileEntry(TypedDict):
    """One name in a directory."""

    name: str
    path: str
    type: Literal["file", "directory", "link", "other"]
    size: int
    modified_at: str


class FileList(TypedDict):
    """What is in a directory, by name; `next_cursor` is None on the last page."""

    ok: Literal[True]
    path: str
    entries: list[FileEntry]
    count: int
    next_cursor: str | None
