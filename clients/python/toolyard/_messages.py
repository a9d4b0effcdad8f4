"""The calls in a model's message, as dictionaries or as the objects of the provider's library."""

from __future__ import annotations

from typing import Any

_TYPES = {"output": ("function_call", "custom_tool_call"), "content": ("tool_use",), "tool_calls": ("function", "custom")}


def find_calls(message: Any) -> tuple[str, list[Any]]:
    """Gives the calls, under the name that the API has for them; everything else in the message is left out."""
    if isinstance(message, (list, tuple)):
        items = list(message)
    else:
        fields = [_field(message, name) for name in ("tool_calls", "output", "content")]
        items = [item for field in fields if isinstance(field, (list, tuple)) for item in field]
    for name, types in _TYPES.items():
        found = [_plain(item) for item in items if _field(item, "type") in types]
        if found:
            return name, found
    # Some servers leave the type out.
    return "tool_calls", [_plain(item) for item in items if _field(item, "function") is not None]


def join_answers(batches: list[list[Any]]) -> list[Any]:
    """Puts the answers of several batches together; Anthropic wants all results of one message in one message."""
    answers = [answer for batch in batches for answer in batch]
    if not answers or not isinstance(answers[0].get("content"), list):
        return answers
    return [{**answers[0], "content": [block for answer in answers for block in answer["content"]]}]


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _plain(item: Any) -> Any:
    """The libraries of the providers have Pydantic models."""
    return item if isinstance(item, dict) else item.model_dump(mode="json")
