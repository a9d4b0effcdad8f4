"""What the HTTP API gives. test/other-clients/python-types.test.ts holds that it agrees with the contract."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

Format = Literal["chat", "responses", "anthropic", "gemini", "bedrock"]
"""Whose shapes tools have: chat completions, the Responses API, Anthropic's messages, Gemini or Bedrock."""

JobOrder = Literal["newest", "oldest"]
JobState = Literal["queued", "held", "running", "input_required", "succeeded", "failed", "cancelled"]

CallErrorCode = Literal[
    "UNKNOWN_TOOL",
    "JOB_TYPE_DISABLED",
    "INVALID_ARGUMENTS",
    "FORBIDDEN",
    "TIMEOUT",
    "TOOL_FAILED",
    "TOOL_TIMEOUT",
    "TOOL_UNAVAILABLE",
    "NOT_ALLOWED",
    "OUTPUT_INVALID",
    "JOB_CANCELLED",
    "WORKER_LOST",
    "DEPENDENCY_BLOCKED",
    "QUOTA_EXCEEDED",
    "SESSION_GONE",
    "POLICY_DENIED",
    "HELD",
    "APPROVAL_DENIED",
    "APPROVAL_EXPIRED",
    "INPUT_REQUIRED",
    "INPUT_EXPIRED",
    "QUESTION_INVALID",
    "SECRET_MISSING",
    "SANDBOX_FAILED",
    "QUEUE_FULL",
    "INTERNAL",
]


class _CallErrorBody(TypedDict):
    code: CallErrorCode
    message: str


class CallErrorBody(_CallErrorBody, total=False):
    """An error of one call."""

    details: Any


class JobErrorBody(CallErrorBody):
    """The error of a job that failed, and when it did."""

    at: str


class _ResultFile(TypedDict):
    path: str
    size: int
    type: str


class ResultFile(_ResultFile, total=False):
    """A file of the session that a call made, changed or returned."""

    sha256: str


class _CallResult(TypedDict):
    call_id: str
    name: str
    ok: bool


class CallResult(_CallResult, total=False):
    """One call's answer."""

    output: Any
    pending: Literal[True]
    job_id: str
    job_type: str
    files: list[ResultFile]
    more_files: Literal[True]
    error: CallErrorBody


class Progress(TypedDict):
    """How far a job is, as its tool tells."""

    done: float
    total: float | None
    text: str | None


class _JobSummary(TypedDict):
    id: str
    type: str
    tool: str
    queue: str
    status: JobState
    priority: int
    timeout_sec: float
    attempts: int
    max_attempts: int
    callback_url: str | None
    tags: list[str]
    key: str | None
    worker: str | None
    error: JobErrorBody | None
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None
    waited_ms: int | None
    ran_ms: int | None


class JobSummary(_JobSummary, total=False):
    due_at: str
    """A job in a list. Times are ISO 8601 in UTC."""

    parent_id: str
    tenant: str
    progress: Progress
    input_preview: str


class ResultCut(TypedDict):
    """The tool wrote more than is kept."""

    bytes: int
    stored_bytes: int


class SandboxView(TypedDict):
    """How well processes were shut in, and the layers of the box that don't hold."""

    level: Literal["full", "partial", "none"]
    missing: list[str]


class _Revoked(TypedDict, total=False):
    revoked: Literal[True]


class Decision(_Revoked):
    """One person's word on a held job; revoked: it doesn't count, since its key was revoked."""

    key: str
    decision: Literal["approve", "deny"]
    reason: str | None
    at: str


class ApprovalView(TypedDict):
    """What a job that needs an approval tells of it; a decision must come with its digest."""

    state: Literal["held", "approved", "denied", "expired"]
    digest: str
    reason: str | None
    rule: str | None
    approvers: int
    by: list[str] | None
    self: bool
    held_at: str
    expires_at: str
    changed: str | None
    decisions: list[Decision]


class _OfWorkflow(TypedDict, total=False):
    parent_id: str


class _HeldCall(_OfWorkflow):
    job_id: str
    tool: str
    type: str
    queue: str
    key: str | None
    tenant: str | None
    session: str | None
    conversation: str | None
    submitted_at: str
    status: str
    approval: ApprovalView


class ApprovalItem(_HeldCall):
    """A held call in a list."""

    arguments_preview: str


class ApprovalList(TypedDict):
    """A page of held calls."""

    ok: Literal[True]
    approvals: list[ApprovalItem]
    count: int
    next_cursor: str | None


class ApprovedBefore(TypedDict):
    """The call of a tool that was approved before."""

    job_id: str
    arguments: Any


class ApprovalDetail(_HeldCall):
    """A held call, whole: its arguments as they will be handed over, with defaults."""

    arguments: Any
    version: str | None
    program_sha256: str | None
    previous: ApprovedBefore | None


class RefusedAnswers(TypedDict):
    """Answers of the client of an MCP task that did not fit, and why the last one did not."""

    count: int
    reason: str


class _AskedQuestion(TypedDict):
    number: int
    name: str
    kind: Literal["form", "sampling", "roots"]
    text: str
    schema: Any


class AskedQuestion(_AskedQuestion, total=False):
    """One of the questions that a tool asks at once; `schema` is that of the answer, `params` what a model is asked."""

    params: Any
    refused: RefusedAnswers


class _QuestionView(AskedQuestion):
    asked_at: str
    expires_at: str


class QuestionView(_QuestionView, total=False):
    """What a tool asks whoever called it; `more` is asked at the same time."""

    more: list[AskedQuestion]


class _JobView(JobSummary):
    input: Any
    result: Any
    sandbox: SandboxView | None


class JobView(_JobView, total=False):
    """A job, with its whole result."""

    depends_on: list[str]
    approval: ApprovalView
    question: QuestionView
    conversation: str
    session: str
    request: str
    result_truncated: ResultCut
    files: list[ResultFile]
    more_files: Literal[True]


class JobList(TypedDict):
    """A page of jobs; `next_cursor` is None on the last one."""

    ok: Literal[True]
    jobs: list[JobSummary]
    count: int
    next_cursor: str | None


class LogEntry(TypedDict):
    """One line of a job's log; `id` grows from line to line."""

    id: str
    ts: str
    level: Literal["debug", "info", "warn", "error"]
    message: str
    meta: dict[str, Any] | None


class LogEvent(TypedDict):
    """A line of a job's log."""

    type: Literal["log"]
    entry: LogEntry


class ProgressEvent(TypedDict):
    """How far the job is."""

    type: Literal["progress"]
    progress: Progress


class StateEvent(TypedDict):
    """A change of a job's record."""

    type: Literal["state"]
    job: JobView


class EndEvent(TypedDict):
    """The end of a job, with `result` or `error` in its record."""

    type: Literal["end"]
    job: JobView


JobEvent = Union[LogEvent, ProgressEvent, StateEvent, EndEvent]


SecretScope = Literal["operator", "tenant", "key"]


class SecretView(TypedDict):
    """A stored secret: never its value. `key` is the name of the API key whose it is."""

    name: str
    scope: SecretScope
    tenant: str | None
    key: str | None
    stored_at: str
    last_used_at: str | None


class SecretList(TypedDict):
    """The secrets that a key may see, by name."""

    ok: Literal[True]
    secrets: list[SecretView]
    count: int
