"""Finds the class of a tool in its module (P16, P17)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


class ClassNotFound(Exception):
    """The module has no such class; the text says why."""


def find_class(module: ModuleType, name: str | None) -> type:
    """
    The class of this name, or the first one that is defined in the module, never an imported one (B7), and descends
    from a class named `Tool`: ours, or the one of the project that the module belongs to.
    """
    return _first_tool(module) if name is None else _named_class(module, name)


def _named_class(module: ModuleType, name: str) -> type:
    found = getattr(module, name, None)
    if not isinstance(found, type):
        raise ClassNotFound(f"class '{name}' not found in module '{module.__name__}'")
    if not callable(getattr(found, "execute", None)):
        raise ClassNotFound(f"class '{name}' of module '{module.__name__}' has no method execute")
    return found


def _first_tool(module: ModuleType) -> type:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and _is_tool(value):
            return value
    raise ClassNotFound(f"no Tool subclass found in module '{module.__name__}'")


def _is_tool(value: type) -> bool:
    return any(base.__name__ == "Tool" for base in value.__mro__[1:])
