"""
The first process of an inner box. It does nothing but reap, and tell how its one child ended: it is not the child itself,
because the first process of a pid namespace ignores signals that it sends itself.

It tells that by one message to the process that forked it: `W` and the wait status in two bytes, big-endian, or `U` and
why the inner box could not be made. Nothing that runs in the inner box reaches it, nor the socket that the message goes through: a
pipe could be opened again below /proc.
"""

from __future__ import annotations

# Not `signal`, which makes enums: see `child_watch.py`.
import _signal as signal  # type: ignore[import, import-not-found]
import os
import signal as names
import socket

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_MAX_REPORT = 4096


def report_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends: to read the report of an init from, and to write it to."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def fork_as_init(enclose: Callable[[], None], report: socket.socket) -> int:
    """Forks an init, and this its one child. 0 in the child; the pid of the init in this process."""
    pid = os.fork()
    if pid != 0:
        return pid
    child = -1
    try:
        _handle_no_signals()
        enclose()
        # Before there is anybody else in the inner box.
        kernel.set_reachable(False)
        child = os.fork()
        if child == 0:
            kernel.set_reachable(True)
            return 0
        kernel.close_all_but(report.fileno())
        report.send(b"W" + _reap(child).to_bytes(2, "big"))
    except Exception as error:
        report.send(b"U" + str(error).encode("utf-8", "replace")[: _MAX_REPORT - 1])
    finally:
        if child != 0:
            os._exit(0)
    raise AssertionError


def read_report(reader: socket.socket) -> dict[str, Any]:
    """
    How an inner box ended whose init has ended, as the worker is told. An init that told nothing was killed, and its inner box with
    it; so it is with one that told anything else than it would.
    """
    try:
        report = reader.recv(_MAX_REPORT, socket.MSG_DONTWAIT)
    except OSError:
        report = b""
    kind, content = report[:1], report[1:]
    if kind == b"U":
        return {"unboxed": content.decode("utf-8", "replace")}
    status = int.from_bytes(content, "big")
    if kind != b"W" or len(content) != 2 or not (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
        return {"signal": "SIGKILL"}
    if not os.WIFSIGNALED(status):
        return {"exit": os.WEXITSTATUS(status)}
    number = os.WTERMSIG(status)
    try:
        return {"signal": names.Signals(number).name}
    except ValueError:
        return {"signal": f"SIG{number}"}


def _reap(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def _handle_no_signals() -> None:
    """An init is out of reach of its inner box as long as it handles no signal."""
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
