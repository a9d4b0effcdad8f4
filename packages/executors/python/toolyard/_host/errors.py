"""How exceptions of tools are told."""

from __future__ import annotations

import errno
import sys

# Frames of the host itself, which say nothing about the tool.
_OWN = __name__.rpartition(".")[0]
_UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}


def describe(error: BaseException) -> str:
    """`TypeName: message`, as the last line of a traceback."""
    try:
        text = str(error)
    except Exception:
        text = "<its message cannot be shown>"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def is_of_network(error: BaseException) -> bool:
    """Whether it comes of a network that is not there, by itself or by what led to it."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, (ConnectionError, TimeoutError)) or type(cause).__name__ in ("gaierror", "herror"):
            return True
        if isinstance(cause, OSError) and cause.errno in _UNREACHABLE:
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def print_traceback(error: BaseException, root: str) -> None:
    """Prints the traceback to the log, from the tool's first frame on, with paths below `root` relative to it."""
    import traceback  # Slow to import, and needed only here.

    frames = error.__traceback__
    while frames is not None and str(frames.tb_frame.f_globals.get("__name__")).startswith(_OWN):
        frames = frames.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, frames))
        sys.stderr.write(text.replace(f'  File "{root.rstrip("/")}/', '  File "'))
    except Exception:
        print(describe(error), file=sys.__stderr__)
