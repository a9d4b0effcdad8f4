"""What Python tools of Toolyard build on: `from toolyard import Tool`."""

from ._ask import ask
from ._progress import progress
from .tool import Tool

__all__ = ["Tool", "ask", "progress"]
