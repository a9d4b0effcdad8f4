"""What Linux offers for shutting a process in, as far as Python has no word for it. Imported inside a box only."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Call = tuple[str, Any, tuple[Any, ...]]

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000

# The three kinds of mounts that a template's filter lets through, by their flags; see filter.ts.
PROC_FLAGS = 1 | 2 | 4 | 8  # MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC
TEMPORARY_FLAGS = 2 | 4
TERMINALS_FLAGS = 2 | 8
BIND_FLAGS = 4096 | 16384  # MS_BIND, MS_REC

SETPCAP, NET_ADMIN, SYS_ADMIN = 1 << 8, 1 << 12, 1 << 21

_DETACH = 2
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAP_AMBIENT = 4, 36, 24, 38, 22, 47
_SECCOMP_FILTER, _AMBIENT_CLEAR = 2, 4
_CAPABILITY_VERSION = 0x20080522
_CLOSE_RANGE, _MOST = 436, 0xFFFFFFFF
_SIOCSIFFLAGS, _LOOPBACK_UP = 0x8914, struct.pack("16sH22x", b"lo", 0x41)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
# What the kernel is given the address of.
_kept: list[Any] = []


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def unshare(flags: int) -> None:
    """Leaves namespaces for new ones; with NEW_PIDS it is the next child that does."""
    call("unshare", _libc.unshare, (flags,))


def enter(namespace: int, kind: int) -> None:
    """Goes (for NEW_PIDS: lets children go) into the namespace that a descriptor is of."""
    call("setns", _libc.setns, (namespace, kind))


def mount(source: str, place: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2)."""
    call(*mounting(source, place, kind, flags, options))


def mounting(source: str, place: str, kind: str | None, flags: int, options: str | None = None) -> Call:
    """A mount(2) that is still to be done: what is prepared before a fork costs the new process nothing."""
    texts = (None if text is None else ctypes.c_char_p(os.fsencode(text)) for text in (source, place, kind, options))
    source_text, place_text, kind_text, options_text = texts
    return f"mount {place}", _libc.mount, (source_text, place_text, kind_text, ctypes.c_ulong(flags), options_text)


def call(what: str, function: Any, arguments: tuple[Any, ...]) -> None:
    """Does what was prepared."""
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def system_call(what: str, number: int, *arguments: Any) -> int:
    """A system call that the C library may have no name for."""
    result: int = _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def detach(place: str) -> None:
    """Takes a mount away; who has it open keeps it."""
    call(f"umount {place}", _libc.umount2, (os.fsencode(place), _DETACH))


def adopt_orphans() -> None:
    """Has descendants that lose their parent become children of this process."""
    call("prctl", _libc.prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def set_reachable(reachable: bool) -> None:
    """
    Whether other processes of the user may open what this one has below /proc: its memory, its descriptors, its root.
    Forked processes inherit it.
    """
    call("prctl", _libc.prctl, (_PR_SET_DUMPABLE, int(reachable), 0, 0, 0))


def keeping_capabilities(mask: int, bounding: int) -> list[Call]:
    """Drops all capabilities but those of the mask, for good. `bounding` has those that could be gained until now."""
    dropped = (number for number in range(64) if bounding & ~mask & (1 << number))
    header = ctypes.c_char_p(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    low, high = mask & 0xFFFFFFFF, mask >> 32
    sets = ctypes.c_char_p(struct.pack("=6I", low, low, 0, high, high, 0))
    return [
        *(("prctl", _libc.prctl, (_PR_CAPBSET_DROP, number, 0, 0, 0)) for number in dropped),
        ("prctl", _libc.prctl, (_PR_CAP_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)),
        ("capset", _libc.capset, (header, sets)),
    ]


def bounding_set() -> int:
    """The capabilities that this process could gain."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith("CapBnd:"))


def setting_filter(instructions: bytes) -> list[Call]:
    """Puts a seccomp filter in force, on top of those that are, for this process and all that it will start."""
    program = _Program(len(instructions) // 8, instructions)
    _kept.append(program)
    return [
        ("prctl", _libc.prctl, (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
        ("seccomp", _libc.prctl, (_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.addressof(program), 0, 0)),
    ]


def close_all_but(descriptor: int) -> None:
    """Closes every other descriptor."""
    for first, last in ((0, descriptor - 1), (descriptor + 1, _MOST)):
        if last >= first and _libc.syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(last), 0) != 0:
            os.closerange(first, min(last, 4096) + 1)  # A kernel before 5.9.


def start_loopback() -> None:
    """Lets a new network talk to itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        fcntl.ioctl(connection, _SIOCSIFFLAGS, _LOOPBACK_UP)


def writable_proc() -> int:
    """
    A descriptor of a /proc that can be written to, which user namespaces are set up with, and that no path leads to.
    Where the box's mounts are not the host's own, bubblewrap ran without privileges, and the kernel guards /proc itself.
    """
    own = os.O_PATH | os.O_DIRECTORY
    try:
        mount("proc", "/proc", "proc", PROC_FLAGS & ~1)
    except PermissionError:
        return os.open("/proc", own)
    descriptor = os.open("/proc", own)
    detach("/proc")
    mount("proc", "/proc", "proc", PROC_FLAGS)
    return descriptor
