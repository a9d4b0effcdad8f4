"""
The first process of a nest. It does nothing but reap, and tell how its one child ended: it is not the child itself,
because the first process of a pid namespace ignores signals that it sends itself.
"""

from __future__ import annotations

# Not `signal`, which makes enums: see `child_watch.py`.
import _signal as signal  # type: ignore[import-not-found]
import json
import os

from . import kernel
from .birth import ending_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def fork_as_init(enclose: Callable[[], None], writer: int) -> int:
    """Forks an init, and this its one child. 0 in the child; the pid of the init in this process."""
    pid = os.fork()
    if pid != 0:
        return pid
    child = -1
    try:
        _handle_no_signals()
        enclose()
        child = os.fork()
        if child == 0:
            return 0
        kernel.close_all_but(writer)
        _tell(writer, _reap(child))
    except Exception as error:
        _tell(writer, {"unboxed": str(error)})
    finally:
        if child != 0:
            os._exit(0)
    raise AssertionError


def _reap(child: int) -> dict[str, Any]:
    while True:
        pid, status = os.wait()
        if pid == child:
            return ending_of(status)


def _tell(writer: int, report: dict[str, Any]) -> None:
    os.write(writer, json.dumps(report).encode())


def _handle_no_signals() -> None:
    """An init is out of reach of its nest as long as it handles no signal."""
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
