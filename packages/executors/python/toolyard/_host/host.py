"""The host of one Python root."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress

from .birth import OpenBirths
from .channel import Channel
from .forker import Forker
from .streams import print_by_line, read_nothing
from .template import serve_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .forker import Births

# How long templates have to end their calls once the worker is gone, in seconds.
GRACE = 1.0


def main(root: str, descriptor: int) -> None:
    """
    Forks templates for modules of `root` until the worker closes the connection, and tidies up after one that died. The
    first message says how processes are born: `box` is what there is of a box, or `reception` where they connect.
    """
    os.set_inheritable(descriptor, False)
    # Python sets it for itself where there is no locale; a tool gets the variables that the worker gave.
    os.environ.pop("LC_CTYPE", None)
    _add_root(root)
    read_nothing()
    print_by_line()
    control = Channel(descriptor, descriptor)
    greeting = control.receive()
    if greeting is not None:
        _fork_templates(root, control, greeting)


def _fork_templates(root: str, control: Channel, greeting: dict[str, Any]) -> None:
    try:
        births = _births(greeting)
    except (OSError, ImportError) as error:
        control.send({"failed": str(error)})
        return
    control.send({"ready": True})
    Forker(control, births, lambda channel: serve_module(root, greeting, channel)).run(grace=GRACE)
    if greeting["box"] is None:
        _remove_deserted(greeting["reception"])


def _births(greeting: dict[str, Any]) -> Births:
    if greeting["box"] is None:
        return OpenBirths(greeting["reception"])
    # Needs much that is of no use elsewhere, and Linux.
    from .nests import TemplateNests

    return TemplateNests(greeting["box"])


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
