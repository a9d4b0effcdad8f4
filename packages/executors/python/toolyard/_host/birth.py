"""How a forker brings processes into the world when there is no box: by a plain fork."""

from __future__ import annotations

import os
import signal

from .channel import Sockets
from .mark import fork_marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class OpenBirths:
    """Plain forks. In a box, `Nests` takes its place."""

    def __init__(self, reception: str) -> None:
        """`reception` is where new processes connect to the worker."""
        self._reception = reception

    def connect(self, request: dict[str, Any]) -> Sockets:
        """The connections of the process that `fork` will make."""
        return Sockets(self._reception, request["token"])

    def fork(self, request: dict[str, Any]) -> int:
        """Forks; 0 in the new process. What to reap is the returned pid."""
        return fork_marked(request["mark"])

    def leave_parent(self) -> None:
        """In a new process: closes what is the parent's."""

    def show(self, _session: dict[str, Any]) -> dict[str, Any]:
        """In the open, a call begins in the directory of its session."""
        return {"unshown": "there is no box"}

    def ending(self, _pid: int, status: int) -> dict[str, Any]:
        """How a process ended that was reaped with this status."""
        return ending_of(status)


def ending_of(status: int) -> dict[str, Any]:
    """A wait status, as the worker is told."""
    if not os.WIFSIGNALED(status):
        return {"exit": os.WEXITSTATUS(status)}
    number = os.WTERMSIG(status)
    try:
        return {"signal": signal.Signals(number).name}
    except ValueError:
        return {"signal": f"SIG{number}"}
