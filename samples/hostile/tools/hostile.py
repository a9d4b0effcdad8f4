"""The hostile samples as Python tools: what they try from inside of a warm host's call."""
from toolyard import Tool

from .bin import devour, escape


class Escape(Tool):
    """Tries every way out, those of a Python tool as well."""

    def execute(self, **given):
        for path in ("/proc/1/mem", "/proc/1/environ", __file__):
            escape.attempt(f"opened {path} for writing", lambda: escape.opened_for_writing(path))
        given["sockets"] = [*given.get("sockets", []), "/run/toolyard/reception"]
        # Its connection to the worker.
        return escape.report({"descriptors": 1, **given})


class Devour(Tool):
    """Takes as much of one resource as it gets."""

    def execute(self, what):
        return {"taken": getattr(devour, what)()}
