"""
A template: the process that has a module imported, and forks a child for each of its calls.

    worker:   {"module", "file"?}        what to import, first of all, and the only file that it may be where that is pinned
    template: {"ready": true}            imported; from here on it is a forker
              {"failed": "Type: text", "network": false}
                                         not imported; the traceback is in what it printed
"""

from __future__ import annotations

import gc
import importlib

from .call import run_call
from .errors import describe, is_of_network, print_traceback
from .forker import Forker
from .sources import watch
from .streams import print_nowhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .channel import Channel

_COROUTINE = 0x80  # inspect.CO_COROUTINE


def serve_module(root: str, box: dict[str, Any], control: Channel) -> int:
    """Imports the module that the worker names and serves its calls; returns the exit status."""
    from .inner_boxes import CallBoxes  # Imported in the host already.

    request = control.receive()
    if request is None:
        return 0
    sources = watch(root, request["module"], request.get("file"))
    try:
        module = import_module(request["module"])
        if _has_coroutines(module):
            importlib.import_module("asyncio")
    except BaseException as error:  # Also SystemExit: whatever a module raises is why it does not import.
        print_traceback(error, root)
        print_nowhere()
        control.send({"failed": describe(error), "network": is_of_network(error)})
        return 1
    print_nowhere()
    # What is there now is never collected: a collection in a child would copy these pages.
    gc.collect()
    gc.freeze()
    control.send({"ready": True})
    Forker(control, CallBoxes(box), lambda channel: run_call(module, channel, root)).run(sources.changed)
    return 0


def import_module(name: str) -> ModuleType:
    """
    Imports a module, or the one of this name in `tools`, as the manifests' own loader does (PC13). When neither is
    there, the first error is the one that helps (B8).
    """
    if name.startswith("."):
        raise ImportError("a module path must not lead out of the root")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not _is_missing(error, name):
            raise
        try:
            return importlib.import_module(f"tools.{name}")
        except ModuleNotFoundError as retry:
            if not _is_missing(retry, f"tools.{name}"):
                raise
        raise


def _is_missing(error: ModuleNotFoundError, name: str) -> bool:
    """Whether the module itself, or a package above it, is what was not found."""
    return error.name is not None and f"{name}.".startswith(f"{error.name}.")


def _has_coroutines(module: ModuleType) -> bool:
    """Whether a call will need asyncio, which is slow to import."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    functions = [getattr(value, "execute", None) for value in classes]
    return any(getattr(getattr(function, "__code__", None), "co_flags", 0) & _COROUTINE for function in functions)
