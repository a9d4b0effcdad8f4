"""Frames between the worker and its Python processes: a length of four bytes, big-endian, then JSON (or bytes)."""

from __future__ import annotations

import json
import os
import socket

from .streams import read_nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Channel:
    """A way to the worker and back. The worker is trusted, so a message may be as long as it says."""

    def __init__(self, reading: int, writing: int) -> None:
        """The descriptors, which are one for a socket; `close` closes them."""
        self._reading = reading
        self._writing = writing

    def fileno(self) -> int:
        """What becomes readable when a message is there, for `poll`."""
        return self._reading

    def send(self, message: dict[str, Any]) -> None:
        """Sends one message."""
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, payload: bytes | memoryview) -> None:
        """Sends one frame whose content is not a message."""
        self._write(len(payload).to_bytes(4, "big"))
        self._write(payload)

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the worker closed its end, or is gone."""
        header = self._read(4)
        body = None if header is None else self._read(int.from_bytes(header, "big"))
        return None if body is None else json.loads(body)

    def close(self) -> None:
        """Closes this process's ends."""
        for descriptor in {self._reading, self._writing}:
            os.close(descriptor)

    def _write(self, content: bytes | memoryview) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._writing, rest):]

    def _read(self, size: int) -> bytes | None:
        content = bytearray()
        while len(content) < size:
            try:
                chunk = os.read(self._reading, min(size - len(content), 1 << 20))
            except ConnectionError:
                return None
            if not chunk:
                return None
            content += chunk
        return bytes(content)


class Sockets:
    """
    The two connections of a process that is about to be forked in the open. The forking process makes them: what runs
    before a fork runs in memory that is its own already, and every page that the new process touches has to be copied
    for it.
    """

    offered: tuple[int, ...] = ()

    def __init__(self, reception: str, token: str) -> None:
        """Connects to the worker. The token says whose connections these are, and nobody else knows it."""
        self._output = _open(reception, f"{token}o")
        self._control = _open(reception, f"{token}c")

    def take(self) -> Channel:
        """In the new process: what is printed from now on goes to the worker. Returns the connection for messages."""
        read_nothing()
        for descriptor in (1, 2):
            os.dup2(self._output.fileno(), descriptor)
        self._output.close()
        control = self._control.detach()
        return Channel(control, control)

    def close(self) -> None:
        """In the forking process: closes what is the new process's."""
        self._output.close()
        self._control.close()


def _open(reception: str, hello: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(reception)
    connection.sendall(hello.encode())
    return connection
