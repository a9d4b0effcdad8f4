"""A Python tool that looks at how it is shut in; see `probe.ts`. It returns what it could reach, which should be nothing."""

import os
import socket

from toolyard import Tool

# Its nest's init, and itself.
OWN_PROCESSES = 2
SECRET = "canary-secret"
ROOT = os.path.dirname(os.path.abspath(__file__))


def seen_secrets(paths: list[str]) -> list[str]:
    """What can be read of the service's files, in the root and by their paths."""
    below = [os.path.join(top, name) for top, _, names in os.walk(ROOT) for name in names]
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


# What an import can do is tried while it is one.
IMPORT_REACHED = [f"{what}, while it was imported" for what in [*seen_secrets([]), *reached_network()]]


class Canary(Tool):
    def execute(self, secrets: list[str]) -> list[str]:
        with open("/proc/self/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        reached = [*IMPORT_REACHED, *seen_secrets(secrets), *reached_network()]
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
        if os.getpid() != OWN_PROCESSES or len(processes) > OWN_PROCESSES:
            reached.append(f"saw {len(processes)} processes")
        if any(int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")):
            reached.append("has capabilities")
        if status["Seccomp"] != "2":
            reached.append("no seccomp filter is in force")
        for place in ("/tmp", "/dev/shm"):
            with open(f"{place}/canary", "x", encoding="ascii"):
                pass
        if hasattr(os, "unshare"):  # Python 3.12
            try:
                os.unshare(os.CLONE_NEWPID)
                reached.append("made a namespace")
            except OSError:
                pass
        return reached
