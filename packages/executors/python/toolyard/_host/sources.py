"""Knows what an import read below a root, to notice when that changes."""

from __future__ import annotations

import os
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any


class _SourceLoader(SourceFileLoader):
    """Reads the source itself. What `__pycache__` has may be of another one: it is known by its size, and its time in seconds."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


_LOADERS: tuple[Any, ...] = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (_SourceLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)
_SUFFIXES = [*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES]


class Sources:
    """Files as they looked before they were read: time, size and inode, or None for what wasn't there."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[int, int, int] | None] = {}

    def note(self, path: str) -> None:
        """Remembers how a file looks now."""
        self._stamps.setdefault(path, _stamp(path))

    def changed(self) -> bool:
        """Whether any file looks different, is gone, or has come to be."""
        return any(_stamp(path) != before for path, before in self._stamps.items())


def watch(root: str, module: str, file: str | None) -> Sources:
    """
    Notes every module below `root` that is imported, or looked for in vain, from now on. Where `file` is pinned, `module` is
    imported from no other: a package of its name comes before it.
    """
    sources = Sources()
    # A virtual environment inside of the root is a place of installed packages, not of sources.
    installed = [path for path in sys.path if path != root and _is_below(path, root)]

    class NotingFinder(FileFinder):
        """Finds as usual, and notes."""

        def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
            spec = super().find_spec(fullname, target)
            location = os.path.join(self.path, fullname.rpartition(".")[2])
            if spec is None:
                missing = [location, *(location + suffix for suffix in _SUFFIXES)]
            elif spec.origin is None:  # A directory that is a package only as long as it has no file of this name.
                missing = [os.path.join(location, "__init__.py")]
            else:
                missing = [spec.origin]
            for path in missing:
                sources.note(path)
            if spec is not None and file is not None and fullname == module and not _is_same(spec.origin, file):
                raise ImportError(f"{spec.origin} comes before {file}, which its manifest pins", name=fullname, path=spec.origin)
            return spec

    def hook(path: str) -> NotingFinder:
        if not _is_below(path, root) or any(_is_below(path, other) for other in installed) or not os.path.isdir(path):
            raise ImportError("not a directory of sources", path=path)
        return NotingFinder(path, *_LOADERS)

    sys.path_hooks.insert(0, hook)
    return sources


def _is_same(path: str | None, file: str) -> bool:
    try:
        return path is not None and os.path.samefile(path, file)
    except OSError:
        return False


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    # An archive sets the time of a file, and a number of inode is given again: only the time of the last change can't be set.
    return stat.st_ctime_ns, stat.st_size, stat.st_ino
