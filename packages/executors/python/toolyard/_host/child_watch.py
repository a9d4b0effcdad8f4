"""Tells a poll loop that a child ended."""

from __future__ import annotations

# Not `signal`: it makes an enum of all that it is given, in memory that each forked process would have to copy.
import _signal as signal  # type: ignore[import, import-not-found]
import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


class ChildWatch:
    """A descriptor that is readable when a child ended. Takes SIGCHLD over, and gives it back in forked children."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._handler = signal.signal(signal.SIGCHLD, _only_wake)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def fileno(self) -> int:
        """The descriptor, for `poll`."""
        return self._reader

    def clear(self) -> None:
        """Makes the descriptor unreadable until the next child ends."""
        with suppress(BlockingIOError):
            os.read(self._reader, 4096)

    def undo(self) -> None:
        """Leaves the signal as it was found. For a forked child, which has its own children."""
        signal.set_wakeup_fd(self._wakeup)
        # None: it was set by something other than Python, and can't be set again from here.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if self._handler is None else self._handler)
        os.close(self._reader)
        os.close(self._writer)


def _only_wake(_number: int, _frame: FrameType | None) -> None:
    """Without a handler of Python's own, the wake-up descriptor is not written to."""
