"""How exceptions of tools are told."""

from __future__ import annotations

import sys

# Frames of the host itself, which say nothing about the tool.
_OWN = __name__.rpartition(".")[0]


def describe(error: BaseException) -> str:
    """`TypeName: message`, as the last line of a traceback."""
    try:
        text = str(error)
    except Exception:
        text = "<its message cannot be shown>"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def print_traceback(error: BaseException) -> None:
    """Prints the traceback to the log, from the tool's first frame on."""
    import traceback  # Slow to import, and needed only here.

    frames = error.__traceback__
    while frames is not None and str(frames.tb_frame.f_globals.get("__name__")).startswith(_OWN):
        frames = frames.tb_next
    try:
        traceback.print_exception(type(error), error, frames, file=sys.stderr)
    except Exception:
        print(describe(error), file=sys.__stderr__)
