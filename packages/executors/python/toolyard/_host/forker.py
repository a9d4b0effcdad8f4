"""
A process that forks others when the worker asks for it, and tells the worker how they end.

    worker: {"id", "limits"}                   fork a process
            {"id", "check": true}              only look whether a source changed
            {"id", "show": {"session", "init", "write"}}    of a host: show a session to the inner box with this init
            {"opened": id}                     the worker has the ends of the pipes, or wants none
    forker: {"id", "pid", "pipes"}             forked; the descriptors here that are the worker's ends of its pipes
            {"id", "stale": true}              not forked: a source changed since the import
            {"id", "fresh": true}              no source changed
            {"id", "shown": true}, {"id", "unshown": "setns: ..."}    the session is the inner box's workspace, or why not
            {"id", "error": "EAGAIN"}          not forked: the machine is out of something
            {"id", "exit": 0}, {"id", "signal": "SIGSEGV"}    ended, and reaped
            {"id", "unboxed": "mount /tmp: ..."}              ended before it began: its inner box could not be made
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from contextlib import suppress

from .child_watch import ChildWatch
from .pipes import Pipes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn

    from .channel import Channel
    from .inner_boxes import InnerBoxes


class Forker:
    """Serves the worker until it closes the control connection; that ends every process that was forked here."""

    def __init__(self, control: Channel, boxes: InnerBoxes, serve: Callable[[Channel], int]) -> None:
        """`serve` is what a forked process does with its own connection; it returns the exit status."""
        self._control = control
        self._inner_boxes = boxes
        self._serve = serve
        self._watch = ChildWatch()
        self._children: dict[int, int] = {}
        # Ends of pipes that the worker has yet to open, by the id of the process.
        self._offered: dict[int, tuple[int, ...]] = {}

    def run(self, is_stale: Callable[[], bool] = lambda: False, grace: float = 0) -> None:
        """
        Forks as long as `is_stale` says no. At the end, children have `grace` seconds to end by themselves.
        """
        with suppress(ConnectionError):  # The worker may be gone when it is told something, before it is heard to be.
            self._serve_worker(is_stale)
        self._end_children(grace)

    def _serve_worker(self, is_stale: Callable[[], bool]) -> None:
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
                    return
                if "opened" in request:
                    self._withdraw(request["opened"])
                else:
                    self._control.send({"id": request["id"], **self._answer(request, is_stale)})

    def _answer(self, request: dict[str, Any], is_stale: Callable[[], bool]) -> dict[str, Any]:
        if is_stale():
            return {"stale": True}
        if "check" in request:
            return {"fresh": True}
        if "show" in request:
            return self._inner_boxes.show(request["show"])
        try:
            pipes = Pipes()
        except OSError as error:
            return _refusal(error)
        try:
            pid = self._inner_boxes.fork(request)
        except OSError as error:
            pipes.close()
            _close(pipes.offered)
            return _refusal(error)
        if pid == 0:
            self._become_child(pipes)
        pipes.close()
        self._children[pid] = request["id"]
        self._offered[request["id"]] = pipes.offered
        return {"pid": pid, "pipes": pipes.offered}

    def _withdraw(self, identity: int) -> None:
        _close(self._offered.pop(identity, ()))

    def _become_child(self, pipes: Pipes) -> NoReturn:
        status = 1
        try:
            os.setsid()
            self._watch.undo()
            self._inner_boxes.leave_parent()
            self._control.close()
            for identity in list(self._offered):
                self._withdraw(identity)
            status = self._serve(pipes.take())
        except BaseException:  # Nothing of the parent's stack may run in the child.
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _reap(self) -> None:
        for child, identity in list(self._children.items()):
            pid, _ = os.waitpid(child, os.WNOHANG)
            if pid == child:
                del self._children[child]
                self._control.send({"id": identity, **self._inner_boxes.ending(pid)})

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


def _refusal(error: OSError) -> dict[str, Any]:
    return {"error": errno.errorcode.get(error.errno or 0, "unknown")}


def _close(descriptors: tuple[int, ...]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
