"""
How a call of a Python tool gets the directory of its session for its workspace.

The box shows all sessions to the host, which runs no code of tools, and which takes them away from each template before
that is shut in. For a call, the host goes into the mount namespace of its inner box and puts the one directory there, before
the worker sends the call. Nothing in the inner box could do that, or undo it.
"""

from __future__ import annotations

import ctypes
import os

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The same numbers on all architectures.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_HERE, _NO_LINK, _EMPTY_PATH = -100, 0x100, 0x1000
_CLONE, _CLOSE_ON_EXEC = 1, 0o2000000
_FROM_DESCRIPTOR = 4
_READ_ONLY, _NO_SET_ID, _NO_DEVICES = 1, 2, 4


class _Attributes(ctypes.Structure):
    """`struct mount_attr`."""

    _fields_ = (("set", ctypes.c_uint64), ("clear", ctypes.c_uint64), ("propagation", ctypes.c_uint64), ("user", ctypes.c_uint64))


class SessionMounts:
    """The sessions of a host, at a place in its box."""

    def __init__(self, place: str, workspace: str, proc: int) -> None:
        """`proc` is a descriptor of /proc."""
        self._place = place
        self._workspace = os.fsencode(workspace)
        self._proc = proc
        # Mounts of its own, where bubblewrap ran without privileges and the box's are not.
        kernel.unshare(kernel.NEW_MOUNTS)
        self._own = os.open("/proc/self/ns/mnt", os.O_RDONLY)

    def take_away(self) -> None:
        """In a process on its way to a template: leaves the sessions behind, for good."""
        kernel.unshare(kernel.NEW_MOUNTS)
        try:
            kernel.detach(self._place)
        except OSError:
            # They came from a user namespace above, and stay; what lies on them can't be taken away in one below.
            kernel.mount("tmpfs", self._place, "tmpfs", kernel.PROC_FLAGS, "size=4096,mode=0")
        os.close(self._own)

    def show(self, session: dict[str, Any]) -> dict[str, Any]:
        """Puts a session in the place of an inner box's workspace."""
        try:
            self._put(os.path.join(self._place, session["session"]), session["init"], session["write"])
        except OSError as error:
            return {"unshown": str(error)}
        return {"shown": True}

    def _put(self, directory: str, init: int, is_writable: bool) -> None:
        tree = _clone(directory)
        try:
            _restrict(tree, _NO_SET_ID | _NO_DEVICES | (0 if is_writable else _READ_ONLY))
            inner = os.open(f"{init}/ns/mnt", os.O_RDONLY, dir_fd=self._proc)
            # To go into other mounts is to be at their root.
            here = os.open(".", os.O_PATH | os.O_DIRECTORY)
            try:
                kernel.enter(inner, kernel.NEW_MOUNTS)
                try:
                    _attach(tree, self._workspace)
                finally:
                    kernel.enter(self._own, kernel.NEW_MOUNTS)
                    os.fchdir(here)
            finally:
                os.close(here)
                os.close(inner)
        finally:
            os.close(tree)


def _clone(directory: str) -> int:
    return kernel.system_call("open_tree", _OPEN_TREE, _HERE, os.fsencode(directory), _CLONE | _CLOSE_ON_EXEC | _NO_LINK)


def _restrict(tree: int, attributes: int) -> None:
    wanted = _Attributes(attributes, 0, 0, 0)
    kernel.system_call("mount_setattr", _MOUNT_SETATTR, tree, b"", _EMPTY_PATH, ctypes.byref(wanted), ctypes.sizeof(wanted))


def _attach(tree: int, place: bytes) -> None:
    kernel.system_call("move_mount", _MOVE_MOUNT, tree, b"", _HERE, place, _FROM_DESCRIPTOR)
