"""A call in the open: a process of its own, which imports the module and runs the tool once."""

from __future__ import annotations

import os

from .call import run_call
from .channel import Channel
from .errors import describe, is_of_network, print_traceback
from .host import prepare
from .sources import watch
from .template import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main(root: str, descriptor: int, module: str, name: str, file: str | None = None) -> NoReturn:
    """What can't be imported is the reply to the call."""
    prepare(root, descriptor)
    watch(root, module, file)
    os.dup2(1, 2)
    os._exit(_serve(root, Channel(descriptor, descriptor), module, name))


def _serve(root: str, channel: Channel, module: str, name: str) -> int:
    try:
        imported = import_module(module)
    except BaseException as error:  # Also SystemExit: whatever a module raises is why it does not import.
        print_traceback(error, root)
        message = f"module '{name}' does not import: {describe(error)}"
        channel.send({"failed": {"code": "TOOL_UNAVAILABLE", "message": message, "type": None, "network": is_of_network(error)}})
        return 1
    return run_call(imported, channel, root)
