"""The hostile samples as Python tools: what they try from inside of a warm host's call."""
import os
import socket

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
        # The first process of the call's nest tells how the call ended.
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
