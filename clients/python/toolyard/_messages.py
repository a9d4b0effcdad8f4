"""The calls in a model's message, as dictionaries or as the objects of the provider's library."""

from __future__ import annotations

from typing import Any

_BATCH_SIZE = 20
_ENDS = ("finish_reason", "finishReason", "stop_reason", "stopReason")
_KNOWN = ("tool_calls", "toolCalls", "output", "content", "parts", "function_call", "role")
"""A message without calls may have None in these, or nothing else at all."""

_NO_CALLS = frozenset(
    [
        "text",
        "output_text",
        "refusal",
        "message",
        "reasoning",
        "thinking",
        "redacted_thinking",
        "redacted-reasoning",
        "image",
        "image_url",
        "audio",
        "file",
        "document",
        "source",
        "compaction",
        "container_upload",
        "step-start",
        "tool_result",
        "tool-error",
        "server_tool_result",
        "tool_search_output",
        "server_tool_use",
        "server_tool_call",
        "mcp_tool_use",
        "web_search_call",
        "x_search_call",
        "file_search_call",
        "computer_call",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
    ]
)
"""Types of items that are no calls for Toolyard. Those that are missing here cost a request, no more."""

_Found = tuple[str, list[Any], dict[str, Any]]
"""Items under the name that the service has for their list, and what the provider says of how the message ended."""

_NOTHING: _Found = ("content", [], {})


def batches_of(message: Any) -> list[dict[str, Any]]:
    """What to send of a message: the items that may be calls, in bodies of a batch each; none where there surely is no call.

    The service reads them: what isn't understood here is sent as it is, so that its error names it.
    """
    found = _list_of(_field_of(message), list(message)) if isinstance(message, (list, tuple)) else _open(message)
    if found is None:
        whole = _plain(message)
        return [whole if isinstance(whole, dict) else {"message": whole}]
    field, items, rest = found
    if field == "function_call":
        return [{field: items[0]}]
    batches: list[dict[str, Any]] = [{field: items[at : at + _BATCH_SIZE]} for at in range(0, len(items), _BATCH_SIZE)]
    if batches:
        batches[-1].update(rest)
    return batches


def join_answers(batches: list[list[Any]]) -> list[Any]:
    """Puts the answers of several batches together; where a provider wants the answers to one message in one, they come so."""
    answers = [answer for batch in batches for answer in batch]
    for name in ("content", "parts"):
        if answers and isinstance(answers[0].get(name), list):
            return [{**answers[0], name: [part for answer in answers for part in answer[name]]}]
    return answers


def _open(message: Any) -> _Found | None:
    """None where the message can't be read here."""
    choices = _items(_field(message, "choices")) or _items(_field(message, "candidates"))
    found = _lists(message) if choices is None else _alternatives(choices)
    if found is None:
        return None
    ends = {name: str(_end(value)) for name in _ENDS if (value := _field(message, name)) is not None}
    return found[0], found[1], {**found[2], **ends}


def _end(value: Any) -> Any:
    """Libraries have enumerations for it."""
    return getattr(value, "value", value)


def _alternatives(choices: list[Any]) -> _Found | None:
    """One of several answers of a model."""
    opened = [_open(choice) for choice in choices]
    if any(found is None for found in opened):
        return None
    with_items = [found for found in opened if found is not None and found[1]]
    if len(with_items) > 1:
        return None
    return with_items[0] if with_items else _NOTHING


def _lists(message: Any) -> _Found | None:
    calls = [item for name in ("tool_calls", "invalid_tool_calls") for item in _items(_field(message, name)) or []]
    if calls:
        return _list_of("tool_calls", calls)
    for name in ("toolCalls", "functionCalls", "function_calls"):
        items = _items(_field(message, name))
        if items:
            return _list_of(name, items)
    legacy = _field(message, "function_call")
    if legacy is not None:
        return "function_call", [_plain(legacy)], {}
    parts = (_part(name, _field(message, name)) for name in ("output", "content", "parts", "message", "response", "kwargs"))
    found = [one for one in parts if one is not None]
    if not found and all(_field(message, name) is None and not _has(message, name) for name in _KNOWN):
        return None
    return next((one for one in found if one[1]), _NOTHING)


def _part(name: str, value: Any) -> _Found | None:
    items = _items(value)
    if items is not None:
        return _list_of(name, items)
    if isinstance(value, str):
        return _NOTHING if name == "content" else None
    return None if value is None or callable(value) else _open(value)


def _items(value: Any) -> list[Any] | None:
    return list(value) if isinstance(value, (list, tuple)) else None


def _list_of(name: str, items: list[Any]) -> _Found:
    return name, [_plain(item) for item in items if _may_be_call(item)], {}


def _field_of(items: Any) -> str:
    """The name of a list that comes without one."""
    types = {_field(item, "type") for item in items if isinstance(_field(item, "type"), str)}
    if types & {"function_call", "custom_tool_call"}:
        return "output"
    if any(_field(item, "functionCall") is not None or _field(item, "function_call") is not None for item in items):
        return "parts"
    if any(_has(item, "args") and not _has(item, "type") for item in items):
        return "function_calls"
    is_chat = types & {"function", "custom", "tool_call"} or any(_field(item, "function") is not None for item in items)
    return "tool_calls" if is_chat else "content"


def _may_be_call(item: Any) -> bool:
    if isinstance(item, str):
        return False
    kind = _field(item, "type")
    if isinstance(kind, str):
        return kind not in _NO_CALLS and not kind.endswith(("_tool_result", "_call_output", "-result"))
    plain = _plain(item)
    texts = ("text", "thought", "thoughtSignature", "thought_signature", "reasoningContent")
    return not isinstance(plain, dict) or any(value is not None and name not in texts for name, value in plain.items())


def _has(value: Any, name: str) -> bool:
    return name in value if isinstance(value, dict) else hasattr(value, name)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _plain(item: Any) -> Any:
    """The libraries of the providers have Pydantic models."""
    return item.model_dump(mode="json") if hasattr(item, "model_dump") else item
