"""
A process that forks others when the worker asks for it, and tells the worker how they end.

    worker: {"id", "token", "mark", "limits"}  fork a process; it connects with the token
            {"id", "check": true}              only look whether a source changed
    forker: {"id", "pid"}                      forked
            {"id", "stale": true}              not forked: a source changed since the import
            {"id", "fresh": true}              no source changed
            {"id", "error": "EAGAIN"}          not forked: the machine is out of something
            {"id", "exit": 0}, {"id", "signal": "SIGSEGV"}    ended, and reaped
            {"id", "unboxed": "mount /tmp: ..."}              ended before it began: its nest could not be made
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from contextlib import suppress

from .channel import Channel, Connections
from .child_watch import ChildWatch
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn, Union

    from .birth import OpenBirths
    from .nests import Nests

    Births = Union[OpenBirths, Nests]


class Forker:
    """Serves the worker until it closes the control connection; that ends every process that was forked here."""

    def __init__(self, control: Channel, reception: str, births: Births, serve: Callable[[Channel], int]) -> None:
        """`serve` is what a forked process does with its own connection; it returns the exit status."""
        self._control = control
        self._reception = reception
        self._births = births
        self._serve = serve
        self._watch = ChildWatch()
        self._children: dict[int, str] = {}

    def run(self, is_stale: Callable[[], bool] = lambda: False, grace: float = 0) -> None:
        """
        Forks as long as `is_stale` says no. At the end, children have `grace` seconds to end by themselves.
        """
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._watch, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._watch.fileno() in ready:
                self._watch.clear()
                self._reap()
            if self._control.fileno() in ready:
                request = self._control.receive()
                if request is None:
                    return self._end_children(grace)
                self._control.send({"id": request["id"], **self._answer(request, is_stale)})

    def _answer(self, request: dict[str, Any], is_stale: Callable[[], bool]) -> dict[str, Any]:
        if is_stale():
            return {"stale": True}
        if "check" in request:
            return {"fresh": True}
        try:
            connections = Connections(self._reception, request["token"])
            pid = self._births.fork(request)
        except OSError as error:
            return {"error": errno.errorcode.get(error.errno or 0, "unknown")}
        if pid == 0:
            self._become_child(connections)
        connections.close()
        self._children[pid] = request["id"]
        return {"pid": pid}

    def _become_child(self, connections: Connections) -> NoReturn:
        status = 1
        try:
            os.setsid()
            self._watch.undo()
            self._births.leave_parent()
            self._control.close()
            status = self._serve(connections.take())
        except BaseException:  # Nothing of the parent's stack may run in the child.
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _reap(self) -> None:
        for child, identity in list(self._children.items()):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid == child:
                del self._children[child]
                self._control.send({"id": identity, **self._births.ending(pid, status)})

    def _end_children(self, grace: float) -> None:
        until = time.monotonic() + grace
        while self._children and time.monotonic() < until:
            time.sleep(0.01)
            living = {child for child in self._children if os.waitpid(child, os.WNOHANG)[0] == 0}
            self._children = {child: self._children[child] for child in living}
        for child in self._children:
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    kill(child, signal.SIGKILL)
