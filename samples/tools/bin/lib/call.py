"""One tool call: arguments as one JSON object on stdin, a line of JSON on stdout, or a line with the error on stderr."""

import json
import os
import sys


class CallError(Exception):
    """A failure that the caller is told of; its text is the message."""


def answer(run):
    """Prints what `run(arguments)` returns as one line of JSON, or its error, and then exits with 1."""
    try:
        result = json.dumps(run(_read_arguments()), ensure_ascii=False, allow_nan=False)
        sys.stdout.buffer.write(result.encode("utf-8", "replace") + b"\n")
    except CallError as error:
        _fail(str(error))
    except (OSError, UnicodeError, ValueError) as error:
        _fail(f"{type(error).__name__}: {error}")


def workspace_path(arguments, name):
    """Returns the real path of the file that the argument `name` names in the workspace, the working directory.

    A path that leads out of it is refused, also by way of a symbolic link, and so is anything but a file.
    """
    path = arguments.get(name)
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise CallError(f"{name} is required")
    root = os.path.realpath(".")
    # Before the file system is asked, so that the answer doesn't tell what exists outside.
    _refuse_outside(root, os.path.normpath(os.path.join(root, path)), path)
    real = os.path.realpath(path)
    _refuse_outside(root, real, path)
    if not os.path.exists(real):
        raise CallError(f"file not found: {path}")
    if not os.path.isfile(real):
        raise CallError(f"path is not a file: {path}")
    return real


def _read_arguments():
    text = sys.stdin.buffer.read().decode("utf-8", "replace").strip()
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise CallError("arguments must be a JSON object")
    return arguments


def _refuse_outside(root, target, path):
    if target != root and not target.startswith(root.rstrip(os.sep) + os.sep):
        raise CallError(f"path escapes workspace root: {path}")


def _fail(message):
    sys.stderr.buffer.write(json.dumps({"error": message}).encode() + b"\n")
    sys.exit(1)
