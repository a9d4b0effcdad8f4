"""The host of one Python root."""

from __future__ import annotations

import os
import sys

from .channel import Channel
from .forker import Forker
from .streams import print_by_line, read_nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How long templates have to end their calls once the worker is gone, in seconds.
GRACE = 1.0


def main(root: str, descriptor: int) -> None:
    """Forks templates for modules of `root` until the worker closes the connection. The first message is what there is of a box."""
    prepare(root, descriptor)
    control = Channel(descriptor, descriptor)
    box = control.receive()
    if box is not None:
        _fork_templates(root, control, box)


def prepare(root: str, descriptor: int) -> None:
    """Makes this process ready for the modules of `root`."""
    os.set_inheritable(descriptor, False)
    # Python sets it for itself where there is no locale; a tool gets the variables that the worker gave.
    os.environ.pop("LC_CTYPE", None)
    # After the standard library, which it can't break, and before installed packages, which can't hide its modules.
    installed = (at for at, path in enumerate(sys.path) if os.path.basename(path) in ("site-packages", "dist-packages"))
    sys.path.insert(next(installed, len(sys.path)), root)
    read_nothing()
    print_by_line()


def _fork_templates(root: str, control: Channel, box: dict[str, Any]) -> None:
    try:
        # These need much that is of no use in the open, and Linux.
        from .inner_boxes import TemplateBoxes
        from .template import serve_module

        boxes = TemplateBoxes(box)
    except (OSError, ImportError) as error:
        control.send({"failed": str(error)})
        return
    control.send({"ready": True})
    Forker(control, boxes, lambda channel: serve_module(root, box, channel)).run(grace=GRACE)
