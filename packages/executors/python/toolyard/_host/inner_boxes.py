"""
InnerBoxes: each template and each call in a pid namespace of its own, inside the box that bubblewrap built around the host.

    host              no code of tools; may make user namespaces in the box
      init            first process of the template's user, pid and mount namespaces
        template      imports the module; may make pid, ipc, network and mount namespaces, and little else of that kind
          init        first process of the call's pid, ipc, network and mount namespaces; without any privilege
            call      runs the tool; without any privilege, under the filter of all boxes

An inner box ends with its init, whatever its processes forked and whatever sessions they made: the kernel kills them all, and
tells the forker of the init's end only when they are gone. An init does nothing but reap, and tell how its one child
ended: it is not the child itself, because the first process of a pid namespace ignores signals that it sends itself.

/tmp, HOME and /dev/shm are new and empty in each inner box; places of the box that lie below them are shown in the new ones.
"""

from __future__ import annotations

import base64
import os
import sys

from . import kernel
from .inherited import shut_ways_out
from .inner_init import fork_as_init, read_report, report_pair
from .limits import limit_call, limit_template
from .session_mounts import SessionMounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

# Making namespaces, starting their loopback, giving all of that up.
_TEMPLATE_CAPABILITIES = kernel.SYS_ADMIN | kernel.NET_ADMIN | kernel.SETPCAP


class InnerBoxes:
    """The inner boxes that one forker makes."""

    def __init__(self, box: dict[str, Any]) -> None:
        """`box` is what the worker said of it: see `host-box.ts`."""
        self._box = box
        self._reports: dict[int, socket.socket] = {}
        home = box["home"]
        self._fresh = ["/tmp", "/dev/shm"]
        if home is not None and not home.startswith("/tmp/"):
            self._fresh.append(home)
        self._places = [(place, os.path.isdir(place)) for place in box["places"] if os.path.exists(place)]
        self._directories = self._missing_directories()
        self._mountings = [
            kernel.mounting("devpts", "/dev/pts", "devpts", kernel.TERMINALS_FLAGS, "newinstance,ptmxmode=0666,mode=620"),
            kernel.mounting("proc", "/proc", "proc", kernel.PROC_FLAGS),
        ]

    def fork(self, request: dict[str, Any]) -> int:
        """Makes an inner box and forks into it; 0 in the new process, else the pid of the inner box's init."""
        reader, report = report_pair()
        try:
            pid = self._fork_init(request["limits"], report)
        except OSError:
            reader.close()
            raise
        finally:
            report.close()
        if pid == 0:
            reader.close()
            self._limit(request["limits"])
        else:
            self._reports[pid] = reader
        return pid

    def leave_parent(self) -> None:
        """In a new process: closes what is the parent's."""
        for reader in self._reports.values():
            reader.close()

    def ending(self, pid: int) -> dict[str, Any]:
        """What the init told before it ended."""
        with self._reports.pop(pid) as reader:
            return read_report(reader)

    def show(self, _session: dict[str, Any]) -> dict[str, Any]:
        """Only a host has the sessions."""
        return {"unshown": "there are no sessions"}

    def _missing_directories(self) -> list[str]:
        """What a new HOME, and places to mount on, need in new directories; the outer ones first."""
        home = self._box["home"]
        inner = [place for place, is_directory in self._places if is_directory]
        inner += [os.path.dirname(place) for place, is_directory in self._places if not is_directory]
        missing = set()
        for place in [*inner, *([home] if home is not None else [])]:
            path = place
            while any(path.startswith(f"{fresh}/") for fresh in self._fresh) and path not in self._fresh:
                missing.add(path)
                path = os.path.dirname(path)
        return sorted(missing)

    def _fork_init(self, limits: dict[str, int], report: socket.socket) -> int:
        raise NotImplementedError

    def _limit(self, limits: dict[str, int]) -> None:
        raise NotImplementedError

    def _furnish(self, limits: dict[str, int]) -> None:
        """Mounts what is new in an inner box."""
        options = f"size={limits['tempBytes']},mode=1777"
        sources = [os.open(place, os.O_PATH) for place, _ in self._places]
        for place in self._fresh:
            kernel.mount("tmpfs", place, "tmpfs", kernel.TEMPORARY_FLAGS, options)
        for directory in self._directories:
            os.mkdir(directory)
        for source, (place, is_directory) in zip(sources, self._places):
            if not is_directory:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL))
            kernel.mount(f"/proc/self/fd/{source}", place, None, kernel.BIND_FLAGS)
            os.close(source)
        for mounting in self._mountings:
            kernel.call(*mounting)


class TemplateBoxes(InnerBoxes):
    """Inner boxes for templates, made by the host."""

    def __init__(self, box: dict[str, Any]) -> None:
        super().__init__(box)
        kernel.adopt_orphans()
        self._proc = kernel.writable_proc()
        self._sessions = SessionMounts(box["sessions"], box["workspace"], self._proc) if box["sessions"] is not None else None

    def show(self, session: dict[str, Any]) -> dict[str, Any]:
        """Makes a session the workspace of an inner box."""
        return {"unshown": "there are no sessions"} if self._sessions is None else self._sessions.show(session)

    def _limit(self, limits: dict[str, int]) -> None:
        limit_template(limits)

    def _fork_init(self, limits: dict[str, int], report: socket.socket) -> int:
        """By a process in between, since the host itself stays in its user namespace."""
        reader, answer = os.pipe()
        between = os.fork()
        if between == 0:
            pid = self._fork_between(limits, report, answer)
            if pid == 0:
                for descriptor in (reader, answer, self._proc):
                    os.close(descriptor)
                return 0
            os._exit(0)
        os.close(answer)
        # One message, not all up to the end: the new init has the other end open for a while.
        pid = int(os.read(reader, 32) or -1)
        os.close(reader)
        os.waitpid(between, 0)
        if pid < 0:
            raise OSError(-pid, "no inner box")
        return pid

    def _fork_between(self, limits: dict[str, int], report: socket.socket, answer: int) -> int:
        """Nothing of the host's stack may run in the process in between, so it ends here whatever happens."""
        try:
            pid = self._fork_from_new_user(limits, report)
            if pid != 0:
                os.write(answer, b"%d" % pid)
            return pid
        except OSError as error:
            os.write(answer, b"-%d" % (error.errno or 1))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(1)

    def _fork_from_new_user(self, limits: dict[str, int], report: socket.socket) -> int:
        user, group = os.getuid(), os.getgid()
        network = 0 if self._box["network"] else kernel.NEW_NETWORK
        if self._sessions is not None:
            self._sessions.take_away()
        kernel.unshare(kernel.NEW_USER | kernel.NEW_PIDS | kernel.NEW_MOUNTS | network)
        self._write("setgroups", "deny")
        self._write("uid_map", f"{user} {user} 1")
        self._write("gid_map", f"{group} {group} 1")

        def enclose() -> None:
            if network:
                kernel.start_loopback()
            self._furnish(limits)
            for restriction in _restrictions(_TEMPLATE_CAPABILITIES, kernel.bounding_set(), self._box["templateFilter"]):
                kernel.call(*restriction)

        return fork_as_init(enclose, report)

    def _write(self, name: str, text: str) -> None:
        descriptor = os.open(f"self/{name}", os.O_WRONLY, dir_fd=self._proc)
        os.write(descriptor, text.encode())
        os.close(descriptor)


class CallBoxes(InnerBoxes):
    """Inner boxes for calls, made by a template."""

    def __init__(self, box: dict[str, Any]) -> None:
        super().__init__(box)
        self._mountings += [kernel.mounting("/dev/null", path, None, kernel.BIND_FLAGS) for path in box["covered"]]
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._restrictions = _restrictions(0, _TEMPLATE_CAPABILITIES, box["callFilter"])
        self._new = kernel.NEW_MOUNTS | kernel.NEW_IPC | (0 if box["network"] else kernel.NEW_NETWORK)

    def leave_parent(self) -> None:
        super().leave_parent()
        os.close(self._own)
        shut_ways_out(self._box["network"])

    def _limit(self, limits: dict[str, int]) -> None:
        limit_call(limits)

    def _fork_init(self, limits: dict[str, int], report: socket.socket) -> int:
        kernel.unshare(kernel.NEW_PIDS)

        def enclose() -> None:
            kernel.unshare(self._new)
            if self._new & kernel.NEW_NETWORK:
                kernel.start_loopback()
            self._furnish(limits)
            for restriction in self._restrictions:
                kernel.call(*restriction)

        inside = False
        try:
            pid = fork_as_init(enclose, report)
            inside = pid == 0
        finally:
            if not inside:
                # Without it the next fork would be one more process of this inner box.
                kernel.enter(self._own, kernel.NEW_PIDS)
        return pid


def _restrictions(capabilities: int, bounding: int, encoded: str | None) -> list[kernel.Call]:
    filtering = [] if encoded is None else kernel.setting_filter(base64.b64decode(encoded))
    return [*kernel.keeping_capabilities(capabilities, bounding), *filtering]
