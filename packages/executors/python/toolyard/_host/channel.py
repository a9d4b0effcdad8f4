"""Frames between the worker and its Python processes: a length of four bytes, big-endian, then JSON (or bytes)."""

from __future__ import annotations

import json
import os

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
