from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress

from ._errors import ToolyardError

_RETRYABLE = {"UNREACHABLE", "UNAVAILABLE", "RATE_LIMITED"}
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 2.0


class Stopped(Exception):
    """The caller waits no longer."""


class Stop:
    """Ends what one thread does for another: its waits, and the connection that it reads from."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._socket: socket.socket | None = None

    def check(self) -> None:
        if self._event.is_set():
            raise Stopped

    def sleep(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise Stopped

    def reads(self, connection: socket.socket | None) -> None:
        """Names the connection that is read from now on."""
        with self._lock:
            self._socket = connection
            self.check()

    def set(self) -> None:
        with self._lock:
            self._event.set()
            if self._socket is not None:
                # It may be closed already.
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)


class Patience:
    """Decides whether a failed request is sent again, and waits before it is. One for each request or stream."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._failures = 0
        self._failing_since = 0.0

    def restored(self) -> None:
        """The service answered."""
        self._failures = 0

    def wait(self, error: ToolyardError, stop: Stop) -> None:
        """Waits as long as Retry-After says, else twice as long as before; raises the error when that is of no use."""
        now = time.monotonic()
        if self._failures == 0:
            self._failing_since = now
        backoff = min(_LONGEST_DELAY, _FIRST_DELAY * 2**self._failures) * random.uniform(0.5, 1)
        delay = backoff if error.retry_after is None else error.retry_after
        if error.code not in _RETRYABLE or now + delay - self._failing_since > self._seconds:
            raise error
        self._failures += 1
        stop.sleep(delay)
