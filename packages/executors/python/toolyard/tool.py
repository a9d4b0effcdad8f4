"""The base class of Python tools."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Tool:
    """
    One tool of a manifest. A subclass implements `execute`, also as `async def`; what it returns is the output.

    A new instance is made for every call, in a process of its own.
    """

    name: str
    description: str
    config: Mapping[str, Any]
    #: The answers to what this call has asked before, the oldest first: see `ask`.
    answers: list[dict[str, Any]]

    def __init__(self, name: str, description: str, config: Mapping[str, Any] | None = None) -> None:
        """Takes the name, the description and the `config` of the manifest's entry."""
        self.name = name
        self.description = description
        self.config = {} if config is None else config
        self.answers = []

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the tool with the call's arguments. An exception fails the call."""
        raise NotImplementedError(f"{type(self).__name__} does not implement execute")
