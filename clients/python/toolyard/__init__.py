"""Client of Toolyard: from a model's message to its tools' answers in one call."""

from ._aio import AsyncJobs, AsyncToolyard
from ._client import Jobs, Toolyard
from ._errors import ToolError, ToolyardError
from ._types import (
    CallErrorBody,
    CallErrorCode,
    CallResult,
    EndEvent,
    Format,
    JobEvent,
    JobList,
    JobOrder,
    JobState,
    JobSummary,
    JobView,
    LogEntry,
    LogEvent,
    Progress,
    ProgressEvent,
    ResultFile,
    StateEvent,
)

__all__ = [
    "AsyncJobs",
    "AsyncToolyard",
    "CallErrorBody",
    "CallErrorCode",
    "CallResult",
    "EndEvent",
    "Format",
    "JobEvent",
    "JobList",
    "JobOrder",
    "JobState",
    "JobSummary",
    "JobView",
    "Jobs",
    "LogEntry",
    "LogEvent",
    "Progress",
    "ProgressEvent",
    "ResultFile",
    "StateEvent",
    "ToolError",
    "Toolyard",
    "ToolyardError",
]
