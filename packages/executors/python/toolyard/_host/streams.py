"""What tools print: to the log, by line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def read_nothing() -> None:
    """
    Gives this process a stdin of its own, since what is set for an open file holds for all that share it. In a box it is
    the box's /dev/null: through that of the machine, root could change the machine's device.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def print_by_line() -> None:
    """Has everything printed appear while the tool runs, and no character fail."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[attr-defined, union-attr]


def flush_streams() -> None:
    """Hands on what was printed without a line end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # The tool may have replaced or closed it.
            stream.flush()


def print_nowhere() -> None:
    """Ends the log. What is printed from now on, by threads for instance, is lost."""
    flush_streams()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
