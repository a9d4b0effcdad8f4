"""How a Python tool asks something back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def ask(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """
    What `execute` returns to ask whoever called the tool: `return ask("Which one?", {"type": "object", "properties": ...})`.

    The tool runs again from its start, with the answer as the last of `self.answers`.
    """
    return {"$ask": {"text": text, "schema": dict(schema)}}
