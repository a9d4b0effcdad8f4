# Made of _sessions.py by scripts/python-aio.mjs.
from __future__ import annotations

from collections.abc import AsyncIterator

from . import _files
from ._file_types import FileList, PutFile, SessionList, SessionView, Unpacked
from ._threads import each_in_thread, in_thread
from ._transport import FileBody, Transport


class AsyncFiles:
    """
    Files of one session, or of the shared workspace. Paths are from its top, with `/`. All methods raise a ToolyardError.
    """

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = base

    async def put(self, path: str, content: FileBody) -> PutFile:
        """Puts a file in its place as a whole; missing directories are made."""
        address = _files.file_path(self._base, path)
        return await in_thread(lambda stop: _files.put(self._transport, stop, address, content))

    async def get(self, path: str) -> bytes:
        """A whole file."""
        address = _files.file_path(self._base, path)
        return await in_thread(lambda stop: _files.get(self._transport, stop, address))

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """A file in pieces, as they come: of any size."""
        address = _files.file_path(self._base, path)
        async for each in each_in_thread(lambda stop: _files.stream(self._transport, stop, address)):
            yield each

    async def list(self, path: str = "", *, limit: int | None = None, cursor: str | None = None) -> FileList:
        """What is in a directory, by name; `cursor` is `next_cursor` of the page before."""
        address = _files.file_path(self._base, path)
        query = {"limit": limit, "cursor": cursor}
        return await in_thread(lambda stop: _files.list_files(self._transport, stop, address, dict(query)))

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        """Removes a file, or a directory: an empty one, or with `recursive` all that is in it."""
        address = _files.file_path(self._base, path)
        await in_thread(lambda stop: _files.remove(self._transport, stop, address, recursive))

    async def get_archive(self, path: str = "") -> AsyncIterator[bytes]:
        """All of a directory as a tar archive, in pieces."""
        address = _files.file_path(self._base, path)
        async for each in each_in_thread(lambda stop: _files.stream_archive(self._transport, stop, address)):
            yield each

    async def put_archive(self, path: str, content: FileBody) -> Unpacked:
        """Unpacks a tar archive into a directory. What came before a fault stays."""
        address = _files.file_path(self._base, path)
        return await in_thread(lambda stop: _files.put_archive(self._transport, stop, address, content))


class AsyncSessions:
    """The sessions of a service: workspaces of one tenant. All methods raise a ToolyardError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def make(
        self, *, ttl_sec: int | None = None, quota_bytes: int | None = None, template: str | None = None
    ) -> SessionView:
        """Makes a session; `template` is what its files begin as. One whose answer is lost ends with its time to live."""
        session = {"ttl_sec": ttl_sec, "quota_bytes": quota_bytes, "from": template}
        return await in_thread(lambda stop: _files.make_session(self._transport, stop, session))

    async def get(self, session_id: str) -> SessionView:
        """One session."""
        return await in_thread(lambda stop: _files.get_session(self._transport, stop, session_id))

    async def list(
        self, *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> SessionList:
        """A page of sessions, newest first; `cursor` is `next_cursor` of the page before."""
        query = {"tenant": tenant, "limit": limit, "cursor": cursor}
        return await in_thread(lambda stop: _files.list_sessions(self._transport, stop, dict(query)))

    async def remove(self, session_id: str) -> SessionView:
        """Begins to remove a session and its files."""
        return await in_thread(lambda stop: _files.remove_session(self._transport, stop, session_id))

    def files(self, session_id: str) -> AsyncFiles:
        """The files of a session."""
        return AsyncFiles(self._transport, f"{_files.session_path(session_id)}/files")
