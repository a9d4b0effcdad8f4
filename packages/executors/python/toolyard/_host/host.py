"""The host of one Python root."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress

from .channel import Channel
from .forker import Forker
from .streams import print_by_line
from .template import serve_module

# How long templates have to end their calls once the worker is gone, in seconds.
GRACE = 1.0


def main(root: str, reception: str) -> None:
    """Forks templates for modules of `root` until the worker closes descriptor 3, and tidies up after one that died."""
    os.set_inheritable(3, False)
    # Python sets it for itself where there is no locale; a tool gets the variables that the worker gave.
    os.environ.pop("LC_CTYPE", None)
    _add_root(root)
    print_by_line()
    control = Channel(socket.socket(fileno=3))
    Forker(control, reception, lambda channel: serve_module(root, reception, channel)).run(grace=GRACE)
    _remove_deserted(reception)


def _add_root(root: str) -> None:
    """After the standard library, which it can't break, and before installed packages, which can't hide its modules."""
    installed = (at for at, path in enumerate(sys.path) if os.path.basename(path) in ("site-packages", "dist-packages"))
    sys.path.insert(next(installed, len(sys.path)), root)


def _remove_deserted(reception: str) -> None:
    """Removes the socket of a worker that was killed, and its directory; a worker that lives does it itself."""
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        try:
            connection.connect(reception)
        except ConnectionRefusedError:
            os.unlink(reception)
            os.rmdir(os.path.dirname(reception))
