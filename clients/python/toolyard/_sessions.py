from __future__ import annotations

from collections.abc import Iterator

from . import _files
from ._file_types import FileList, PutFile, SessionList, SessionView, Unpacked
from ._patience import Stop
from ._transport import FileBody, Transport


class Files:
    """
    Files of one session, or of the shared workspace. Paths are from its top, with `/`. All methods raise a ToolyardError.
    """

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = base

    def put(self, path: str, content: FileBody) -> PutFile:
        """Puts a file in its place as a whole; missing directories are made."""
        address = _files.file_path(self._base, path)
        return _files.put(self._transport, Stop(), address, content)

    def get(self, path: str) -> bytes:
        """A whole file."""
        address = _files.file_path(self._base, path)
        return _files.get(self._transport, Stop(), address)

    def stream(self, path: str) -> Iterator[bytes]:
        """A file in pieces, as they come: of any size."""
        address = _files.file_path(self._base, path)
        return _files.stream(self._transport, Stop(), address)

    def list(self, path: str = "", *, limit: int | None = None, cursor: str | None = None) -> FileList:
        """What is in a directory, by name; `cursor` is `next_cursor` of the page before."""
        address = _files.file_path(self._base, path)
        query = {"limit": limit, "cursor": cursor}
        return _files.list_files(self._transport, Stop(), address, dict(query))

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Removes a file, or a directory: an empty one, or with `recursive` all that is in it."""
        address = _files.file_path(self._base, path)
        _files.remove(self._transport, Stop(), address, recursive)

    def get_archive(self, path: str = "") -> Iterator[bytes]:
        """All of a directory as a tar archive, in pieces."""
        address = _files.file_path(self._base, path)
        return _files.stream_archive(self._transport, Stop(), address)

    def put_archive(self, path: str, content: FileBody) -> Unpacked:
        """Unpacks a tar archive into a directory. What came before a fault stays."""
        address = _files.file_path(self._base, path)
        return _files.put_archive(self._transport, Stop(), address, content)


class Sessions:
    """The sessions of a service: workspaces of one tenant. All methods raise a ToolyardError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def make(
        self, *, ttl_sec: int | None = None, quota_bytes: int | None = None, template: str | None = None
    ) -> SessionView:
        """Makes a session; `template` is what its files begin as. One whose answer is lost ends with its time to live."""
        session = {"ttl_sec": ttl_sec, "quota_bytes": quota_bytes, "from": template}
        return _files.make_session(self._transport, Stop(), session)

    def get(self, session_id: str) -> SessionView:
        """One session."""
        return _files.get_session(self._transport, Stop(), session_id)

    def list(
        self, *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> SessionList:
        """A page of sessions, newest first; `cursor` is `next_cursor` of the page before."""
        query = {"tenant": tenant, "limit": limit, "cursor": cursor}
        return _files.list_sessions(self._transport, Stop(), dict(query))

    def remove(self, session_id: str) -> SessionView:
        """Begins to remove a session and its files."""
        return _files.remove_session(self._transport, Stop(), session_id)

    def files(self, session_id: str) -> Files:
        """The files of a session."""
        return Files(self._transport, f"{_files.session_path(session_id)}/files")
