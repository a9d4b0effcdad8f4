"""A sample of a Python tool: what `git status` says of a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from toolyard import Tool


class GitStatusTool(Tool):
    """Runs `git status` in a directory of the workspace."""

    def execute(self, path: str = ".", short: bool = True) -> dict[str, Any]:
        """Returns `{success, clean, summary}`, or `{success: False, error}` when git can't tell."""
        workspace = Path.cwd().resolve()
        directory = (workspace / path).resolve()
        if directory != workspace and workspace not in directory.parents:
            return {"success": False, "error": f"path leaves the workspace: {path}"}
        if not directory.is_dir():
            return {"success": False, "error": f"no such directory: {path}"}
        # Nothing of the caller's reaches git's command line.
        changes = _git(directory, "status", "--porcelain")
        if isinstance(changes, str):
            return {"success": False, "error": changes}
        summary = changes if short else _git(directory, "status")
        if isinstance(summary, str):
            return {"success": False, "error": summary}
        return {"success": True, "clean": changes.stdout == "", "summary": summary.stdout.rstrip("\n")}


def _git(directory: Path, *args: str) -> subprocess.CompletedProcess[str] | str:
    """Runs git; the reason as a text when it fails."""
    try:
        done = subprocess.run(["git", *args], cwd=directory, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        return "git is not on the PATH"
    return done if done.returncode == 0 else done.stderr.strip() or f"git ended with {done.returncode}"
