"""The hostile samples as Python tools: what they try from inside of a warm host's call."""
import json
import os
import signal
import socket
import time

from toolyard import Tool

from .bin import devour, escape

# What a careless module leaves open: its calls inherit it.
ROOT = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
CLIENT = socket.socket()
SERVER = socket.create_server(("127.0.0.1", 0))
ADDRESS = SERVER.getsockname()
# What its import could reach, before anybody has called it.
escape.attempt("opened a Unix socket while it was imported", lambda: escape.opened(socket.AF_UNIX, socket.SOCK_STREAM))
escape.attempt("opened a pair of datagram sockets while it was imported", lambda: escape.opened_pair(socket.AF_UNIX, socket.SOCK_DGRAM))
for path in escape.service_files(os.path.dirname(__file__)):
    escape.attempt(f"read {path}, while it was imported", lambda: escape.reads(path))
for address in (("127.0.0.1", 6379), ("127.0.0.1", 3001), ("169.254.169.254", 80)):
    escape.attempt(f"connected to {address}, while it was imported", lambda: escape.connect(socket.AF_INET, address))
escape.attempt("saw a network interface, while it was imported", escape.interfaces)


def connected_to(address):
    CLIENT.connect(address)
    return True


class Escape(Tool):
    """Tries every way out, those of a Python tool as well."""

    def execute(self, **given):
        for path in ("/proc/1/mem", "/proc/1/environ", __file__):
            escape.attempt(f"opened {path} for writing", lambda: escape.opened_for_writing(path))
        # The first process of the call's inner box tells how the call ended.
        for path in ("mem", "environ", "root", "cwd", *(f"fd/{number}" for number in range(64))):
            attempted = os.path.join("/proc/1", path)
            escape.attempt(f"opened {attempted}", lambda: os.open(attempted, os.O_RDONLY | os.O_NONBLOCK) >= 0)
        escape.attempt("saw other calls by a directory that was left open", lambda: os.listdir(ROOT))
        escape.attempt("used a socket that was left open", lambda: connected_to(ADDRESS))
        # The two pipes to the worker and from it, and what the module left open.
        return escape.report({"descriptors": 5, **given})


class Devour(Tool):
    """Takes as much of one resource as it gets."""

    def execute(self, what):
        return {"taken": getattr(devour, what)()}


class Meddle(Tool):
    """Ends and answers the other calls of its module, where it can. What it says of itself may be what it forged."""

    def execute(self, what, forged="forged"):
        return {"report": self.report, "forge": self.forge, "end": self.end}[what](forged)

    def report(self, _forged):
        for pid in others():
            escape.attempt(f"found the call {pid}", lambda: True)
        for pid in range(1, 400):
            if pid not in (os.getpid(), 1):
                escape.attempt(f"may signal {pid}", lambda: os.kill(pid, 0) is None)
        return {"tried": escape.tried, "reached": escape.reached}

    def forge(self, forged):
        """Every descriptor gets what a call, a template and a host would say, for whichever number."""
        value = json.dumps(forged).encode()
        messages = [{"returned": len(value)}, *({"id": number, "exit": 0} for number in range(300)), *({"id": number, "signal": "SIGKILL"} for number in range(300))]
        frames = [framed(json.dumps(message).encode()) for message in messages]
        for descriptor in (*range(3, 64), *opened_of(1), *(end for pid in others() for end in opened_of(pid))):
            try:
                os.set_blocking(descriptor, False)
                for frame in (frames[0], framed(value), *frames[1:], b"W\0\0", b"\n".join(json.dumps(message).encode() for message in messages)):
                    os.write(descriptor, frame)
            except OSError:
                continue
        return forged

    def end(self, _forged):
        """Only processes of the same command line, so that it does no harm where nothing holds it."""
        for pid in (*others(), os.getppid(), 1):
            for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
                try:
                    if same_command(pid):
                        os.kill(pid, number)
                except OSError:
                    continue
        os.kill(os.getpid(), signal.SIGKILL)


class Wait(Tool):
    """A call that others may want to end or to answer: it says that it runs, waits for its turn, and gives back what it got."""

    def execute(self, name, secret):
        with open(f"{name}.up", "w"):
            pass
        while not os.path.exists("go"):
            time.sleep(0.01)
        return {"secret": secret}


def framed(content):
    return len(content).to_bytes(4, "big") + content


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return None


def same_command(pid):
    return command_of(pid) == command_of("self")


def others():
    """The processes that were forked from the same one as this."""
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (os.getpid(), 1) and same_command(pid)]


def opened_of(pid):
    """What another process has open, opened again."""
    found = []
    for number in range(64):
        try:
            found.append(os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
    return found
