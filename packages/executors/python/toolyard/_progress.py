"""How a Python tool tells how far it is."""

from __future__ import annotations

import os

_TEXT_CHARACTERS = 200


def progress(done: float, total: float | None = None, text: str = "") -> None:
    """
    Tells how far the tool is: `progress(40, 100, "pages read")`. Who follows the job sees it, whatever the tool does with its
    stderr. It may be called as often as one likes, from any thread.
    """
    share = _number(done) if total is None else f"{_number(done)}/{_number(total)}"
    line = f"::progress {share} {' '.join(str(text)[:_TEXT_CHARACTERS].split())}".rstrip() + "\n"
    # One short write, so that lines of several threads stay whole.
    os.write(2, line.encode("utf-8", "backslashreplace"))


def _number(value: float) -> str:
    """Without an exponent."""
    if not 0 <= value < 1e15:
        raise ValueError(f"progress is told in numbers from 0 to 1e15, not {value!r}")
    return str(int(value)) if value == int(value) else f"{value:.6f}"
