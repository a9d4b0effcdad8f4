"""Marks processes, so that the worker finds all that descend from them; see mark.ts."""

from __future__ import annotations

import os
from contextlib import suppress

_FILTER = "/proc/self/coredump_filter"


def fork_marked(mark: int | None) -> int:
    """Forks. The new process, and all that it will start, has the mark; this one keeps its own."""
    if mark is None:
        return os.fork()
    own = _exchange(b"%#x" % mark)
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid != 0:
            _exchange(b"0x" + own)
    return pid


def _exchange(mark: bytes) -> bytes:
    """Sets the mark of this process and returns the one before. Without text and buffers: it is done for every call."""
    own = b""
    with suppress(OSError):
        descriptor = os.open(_FILTER, os.O_RDWR)
        own = os.read(descriptor, 32).strip()
        os.write(descriptor, mark)
        os.close(descriptor)
    return own
