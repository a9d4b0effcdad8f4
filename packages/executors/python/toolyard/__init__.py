"""What Python tools of Toolyard build on: `from toolyard import Tool`."""

from .tool import Tool

__all__ = ["Tool"]
