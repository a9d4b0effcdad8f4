"""Client of Toolyard: from a model's message to its tools' answers in one call."""

from ._aio import AsyncJobs, AsyncToolyard
from ._aio_sessions import AsyncFiles, AsyncSessions
from ._client import Jobs, Toolyard
from ._errors import ToolError, ToolyardError
from ._file_types import FileEntry, FileList, PutFile, SessionList, SessionView, Unpacked
from ._sessions import Files, Sessions
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
    "AsyncFiles",
    "AsyncJobs",
    "AsyncSessions",
    "AsyncToolyard",
    "CallErrorBody",
    "CallErrorCode",
    "CallResult",
    "EndEvent",
    "FileEntry",
    "FileList",
    "Files",
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
    "PutFile",
    "ResultFile",
    "SessionList",
    "SessionView",
    "Sessions",
    "StateEvent",
    "ToolError",
    "Toolyard",
    "ToolyardError",
    "Unpacked",
]
