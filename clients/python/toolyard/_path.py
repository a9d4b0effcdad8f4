from __future__ import annotations

from urllib.parse import quote

from ._errors import ToolyardError


def path_segment(name: str) -> str:
    """
    One name in the path of an address. `.`, `..` and nothing at all would lead to another route, such as from a session
    to the shared workspace.
    """
    require_text(name, "A name or an id in an address")
    if name in ("", ".", ".."):
        raise ToolyardError("VALIDATION_ERROR", f"An address has no name '{name}': give the name or the id itself")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise ToolyardError("VALIDATION_ERROR", f"A name in an address is valid Unicode: {name[:80]!a}") from None


def require_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
