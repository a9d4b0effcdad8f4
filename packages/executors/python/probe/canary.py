"""A Python tool that looks at how it is shut in; see `probe.ts`. It returns what it could reach, which should be nothing."""

import os

from toolyard import Tool

# Its nest's init, and itself.
OWN_PROCESSES = 2


class Canary(Tool):
    def execute(self) -> list[str]:
        with open("/proc/self/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        reached = []
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
