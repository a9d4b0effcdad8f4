"""What Python tools of Toolyard build on: `from toolyard import Tool`."""

from ._progress import progress
from .tool import Tool

__all__ = ["Tool", "progress"]
