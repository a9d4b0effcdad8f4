from __future__ import annotations

import http.client
import io


class WholeResponse(http.client.HTTPResponse):
    """http.client takes headers that break off for whole ones. The answer would have no length then, and a file be empty."""

    def begin(self) -> None:
        lines = _Lines(self.fp.detach())
        self.fp = lines
        super().begin()
        if lines.last not in (b"\r\n", b"\n"):
            self.close()
            raise http.client.IncompleteRead(lines.last)


class _Lines(io.BufferedReader):
    """Knows the line that was read last; the headers end with an empty one."""

    last = b""

    def readline(self, size: int | None = -1, /) -> bytes:
        self.last = super().readline(size)
        return self.last
