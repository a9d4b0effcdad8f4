from __future__ import annotations

from typing import Any


class ToolyardError(Exception):
    """
    A request that failed. Decide by `code`: one of docs/errors.md, or `UNREACHABLE` for a service that can't be reached
    or that broke off, or `BAD_ANSWER` for an answer that isn't Toolyard's.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        details: Any = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        """The HTTP status; None when there was no answer."""
        self.details = details
        self.request_id = request_id
        """Under this id the service's log has the request."""
        self.retry_after = retry_after
        """After how many seconds the service asks to be asked again."""


class ToolError(ToolyardError):
    """A tool call that failed; the request itself was served."""

    def __init__(self, tool: str, job_id: str | None, code: str, message: str, *, details: Any = None) -> None:
        super().__init__(code, message, status=200, details=details)
        self.tool = tool
        self.job_id = job_id
        """The call's job, if it became one; with the code `TIMEOUT` it goes on."""
