"""
A Python tool that looks at how it and its import are shut in; see `probe.ts`. It returns what it could reach, which should
be nothing.
"""

from __future__ import annotations

import os
import socket

from toolyard import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

# Its inner box's init, and itself.
OWN_PROCESSES = 2
SECRET = "canary-secret"
ROOT = os.path.dirname(os.path.abspath(__file__))


def seen_secrets(places: list[str], paths: list[str]) -> list[str]:
    """What can be read of the service's files, in these places and by their paths."""
    below = [os.path.join(top, name) for place in places for top, _, names in os.walk(place) for name in names]
    found = []
    for path in [*below, *paths]:
        try:
            with open(path, encoding="utf-8") as file:
                if path != os.path.join(ROOT, "canary.py") and SECRET in file.read():
                    found.append(f"read {os.path.relpath(path, ROOT)}, a file of the service")
        except OSError:
            continue
    return found


def reached_network() -> list[str]:
    """Whether somebody answers outside."""
    with open(os.path.join(ROOT, "port"), encoding="ascii") as file:
        port = int(file.read())
    with socket.socket() as client:
        client.settimeout(1)
        return [] if client.connect_ex(("127.0.0.1", port)) != 0 else ["reached a TCP port of the machine"]


def opened_sockets() -> list[str]:
    """Unix sockets that could be connected to something."""
    opened = []
    for what, make in (
        ("a Unix socket", lambda: [socket.socket(socket.AF_UNIX)]),
        ("a pair of datagram sockets", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
    ):
        try:
            for each in make():
                each.close()
        except OSError:
            continue
        opened.append(f"opened {what}")
    return opened


# What an import can do is tried while it is one.
IMPORT_REACHED = [f"{what}, while it was imported" for what in [*seen_secrets([ROOT], []), *reached_network(), *opened_sockets()]]
# A directory that the import leaves open, as a careless module does.
LEFT_OPEN = os.open("/", os.O_RDONLY | os.O_DIRECTORY)


def achieved(action: Callable[[], object]) -> bool:
    try:
        action()
    except OSError:
        return False
    return True


class Canary(Tool):
    def execute(self, secrets: list[str]) -> list[str]:
        with open("/proc/self/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        reached = [*IMPORT_REACHED, *seen_secrets([ROOT, os.getcwd()], secrets), *reached_network(), *opened_sockets()]
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
        if os.getpid() != OWN_PROCESSES or len(processes) > OWN_PROCESSES:
            reached.append(f"saw {len(processes)} processes")
        reached += [f"reached {path} of its first process" for path in _reached_of_init()]
        if _is_directory(LEFT_OPEN):
            reached.append("has a directory that its import left open")
        if any(int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")):
            reached.append("has capabilities")
        if status["Seccomp"] != "2":
            reached.append("no seccomp filter is in force")
        for place in ("/tmp", "/dev/shm"):
            with open(f"{place}/canary", "x", encoding="ascii"):
                pass
            if achieved(lambda path=f"{place}/canary": os.chmod(path, 0o4755)):
                reached.append(f"gave a file in {place} the rights of its owner")
        for name in ("full", "null", "random", "tty", "urandom", "zero"):
            if achieved(lambda path=f"/dev/{name}": os.chmod(path, os.stat(path).st_mode & 0o777)):
                reached.append(f"changed /dev/{name}")
        if achieved(lambda: os.fchmod(0, os.fstat(0).st_mode & 0o777)):
            reached.append("changed its input")
        if hasattr(os, "unshare"):  # Python 3.12
            try:
                os.unshare(os.CLONE_NEWPID)
                reached.append("made a namespace")
            except OSError:
                pass
        return reached


def _reached_of_init() -> list[str]:
    reached = []
    for path in ("mem", "environ", "root", "cwd", *(f"fd/{number}" for number in range(64))):
        try:
            os.close(os.open(f"/proc/1/{path}", os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            continue
        reached.append(path)
    return reached


def _is_directory(descriptor: int) -> bool:
    try:
        os.listdir(descriptor)
    except OSError:
        return False
    return True
