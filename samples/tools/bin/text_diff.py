#!/usr/bin/env python3
"""text_diff: what changed between two text files of the workspace, as a unified diff.

Arguments: {"old_path"}, {"new_path"}, {"context"}.
"""

import difflib
import os
import sys

sys.dont_write_bytecode = True

from lib.call import CallError, answer, workspace_path  # noqa: E402

MAX_BYTES = 2 * 1024 * 1024


def main(arguments):
    context = arguments.get("context", 3)
    if isinstance(context, bool) or not isinstance(context, int) or not 0 <= context <= 20:
        raise CallError("context must be an integer 0..20")
    old = read_lines(arguments, "old_path")
    new = read_lines(arguments, "new_path")
    lines = list(difflib.unified_diff(old, new, arguments["old_path"], arguments["new_path"], n=context, lineterm=""))
    # The first two lines name the files.
    return {
        "identical": old == new,
        "added": sum(line.startswith("+") for line in lines[2:]),
        "removed": sum(line.startswith("-") for line in lines[2:]),
        "diff": "\n".join(lines),
    }


def read_lines(arguments, name):
    path = workspace_path(arguments, name)
    if os.path.getsize(path) > MAX_BYTES:
        raise CallError(f"file is larger than {MAX_BYTES} bytes: {arguments[name]}")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read().split("\n")
    except UnicodeDecodeError:
        raise CallError(f"file is not UTF-8 text: {arguments[name]}") from None


if __name__ == "__main__":
    answer(main)
