from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import _work
from ._patience import Stop
from ._secrets import Secrets
from ._sessions import Files, Sessions
from ._transport import Transport
from ._types import ApprovalDetail, ApprovalList, Format, JobEvent, JobList, JobOrder, JobState, JobView, LogEntry
from ._work import Waiting


class Jobs:
    """The jobs of a service. All methods raise a ToolyardError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def submit(
        self,
        type: str,
        input: dict[str, Any] | None = None,
        *,
        queue: str | None = None,
        session: str | None = None,
        priority: int | None = None,
        timeout_sec: int | None = None,
        max_attempts: int | None = None,
        tags: list[str] | None = None,
        delay_ms: int | None = None,
        callback_url: str | None = None,
        depends_on: list[str] | None = None,
        idempotency_key: str | None = None,
    ) -> JobView:
        """Submits one job, by the type of its tool, and doesn't wait for it. The same key gives the same job for 24 hours."""
        job = {
            "type": type,
            "input": input,
            "queue": queue,
            "session": session,
            "priority": priority,
            "timeout_sec": timeout_sec,
            "max_attempts": max_attempts,
            "tags": tags,
            "delay_ms": delay_ms,
            "callback_url": callback_url,
            "depends_on": depends_on,
        }
        return _work.submit(self._transport, Stop(), job, idempotency_key)

    def get(self, job_id: str) -> JobView:
        """One job, with its whole result."""
        return _work.get(self._transport, Stop(), job_id)

    def list(
        self,
        *,
        status: JobState | None = None,
        type: str | None = None,
        queue: str | None = None,
        tag: str | None = None,
        tool: str | None = None,
        key: str | None = None,
        code: str | None = None,
        worker: str | None = None,
        text: str | None = None,
        session: str | None = None,
        request: str | None = None,
        tenant: str | None = None,
        created_from: str | None = None,
        created_to: str | None = None,
        order: JobOrder | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> JobList:
        """A page of jobs, newest first unless `order` says otherwise; `cursor` is `next_cursor` of the page before, with the same query."""
        query = {
            "status": status,
            "type": type,
            "queue": queue,
            "tag": tag,
            "tool": tool,
            "key": key,
            "code": code,
            "worker": worker,
            "text": text,
            "session": session,
            "request": request,
            "tenant": tenant,
            "from": created_from,
            "to": created_to,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        }
        return _work.list_jobs(self._transport, Stop(), dict(query))

    # `list` is a method here.
    def logs(self, job_id: str, *, tail: int | None = None) -> _Entries:
        """The last lines of a job's log, the oldest first."""
        return _work.logs(self._transport, Stop(), job_id, tail)

    def cancel(self, job_id: str) -> JobView:
        """Cancels a job; a ToolyardError `CONFLICT` when it has finished."""
        return _work.cancel(self._transport, Stop(), job_id)

    def answer(self, job_id: str, answer: dict[str, Any], *, number: int | None = None) -> JobView:
        """
        Answers what the tool of a job asks; `number` is that of the question, the one that is asked now when absent.

        A ToolyardError `VALIDATION_ERROR` says what doesn't fit its schema, `CONFLICT` that it was answered otherwise, or asks nothing.
        """
        return _work.answer(self._transport, Stop(), job_id, answer, number)

    def promote(self, job_id: str) -> JobView:
        """Lets a job run now that waits for its time; a ToolyardError `CONFLICT` when it does not wait for one."""
        return _work.promote(self._transport, Stop(), job_id)

    def remove(self, job_id: str) -> None:
        """Removes a job that has ended, with its output and its log; a ToolyardError `CONFLICT` when it has not."""
        _work.remove(self._transport, Stop(), job_id)


_Entries = list[LogEntry]


class Approvals:
    """
    Calls that wait for a person, for keys with the role `approver` or `admin` that didn't submit them. All methods raise a
    ToolyardError.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        tool: str | None = None,
        key: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApprovalList:
        """A page of held calls, newest first; `cursor` is `next_cursor` of the page before, with the same query."""
        query = {"tool": tool, "key": key, "tenant": tenant, "limit": limit, "cursor": cursor}
        return _work.list_approvals(self._transport, Stop(), dict(query))

    def get(self, job_id: str) -> ApprovalDetail:
        """What a held call would run, with the digest that a decision comes with."""
        return _work.approval(self._transport, Stop(), job_id)

    def approve(self, job_id: str, *, digest: str, reason: str | None = None) -> ApprovalDetail:
        """Lets a held call run; a ToolyardError `CONFLICT` when it is another call by now, or was decided about."""
        return _work.decide(self._transport, Stop(), job_id, "approve", digest, reason)

    def deny(self, job_id: str, *, digest: str, reason: str | None = None) -> ApprovalDetail:
        """Ends a held call without running it: the reason is for the model. A ToolyardError `CONFLICT` as for `approve`."""
        return _work.decide(self._transport, Stop(), job_id, "deny", digest, reason)


class Toolyard:
    """
    A client of Toolyard. It keeps no connection and needs no closing, and threads can share it.

    :param url: where the API is; `TOOLYARD_URL`, else http://127.0.0.1:3001.
    :param api_key: `TOOLYARD_API_KEY` when absent.
    :param retry_seconds: how long a service that is away or overloaded is tried again.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, *, retry_seconds: float = 30.0) -> None:
        self._transport = Transport(url, api_key, retry_seconds)
        self.jobs = Jobs(self._transport)
        self.approvals = Approvals(self._transport)
        self.secrets = Secrets(self._transport)
        self.sessions = Sessions(self._transport)
        self.files = Files(self._transport, "/v1/files")
        """Of the shared workspace, for keys without a tenant."""

    def tools(
        self,
        format: Format = "chat",
        *,
        strict: bool = False,
        search: str | None = None,
        namespace: str | None = None,
        limit: int | None = None,
        pinned: Sequence[str] | None = None,
    ) -> list[Any]:
        """
        The tools, as the provider's API takes them; of the type Any, so that they fit its library.

        :param search: only the tools that fit these words, best first; `limit` of them, 5 when absent.
        :param namespace: only the tools of this namespace.
        :param pinned: names of the tools that models have from the start: the others are deferred, as the provider does it.
            An empty list: those alone whose manifest says `pinned`.
        """
        chosen: dict[str, object] = {"search": search, "namespace": namespace, "limit": limit}
        return _work.tools(self._transport, Stop(), format, strict, chosen, pinned)

    def invoke(
        self,
        message: Any,
        *,
        queue: str | None = None,
        session: str | None = None,
        timeout: float = 600.0,
        wait: float = 15.0,
        idempotency_key: str | None = None,
        max_output_chars: int | None = None,
    ) -> list[Any]:
        """
        Runs the calls of a model's message and gives what to append to the conversation: one answer for each call, also
        for one that failed. A message without calls gives an empty list.

        :param message: a message or a whole answer of chat completions, the Responses API, Anthropic, Gemini, Bedrock,
            Ollama, Mistral or Cohere, a message of LangChain's, or the list of calls in one of these; dictionaries, or the
            objects of the provider's library.
        :param session: the session whose files are their workspace.
        :param timeout: how long calls are waited for, in seconds; 0 asks once. Then the answer to a call names its job.
        :param wait: how long one request of this wait takes at most: 0.1 to 60 seconds.
        :param idempotency_key: calls with the same key run once within 24 hours, also from another process.
        :param max_output_chars: from how many characters of JSON on outputs are cut in what the model gets: 1,000 to 200,000.
        """
        waiting = Waiting(queue, session, timeout, wait, idempotency_key, max_output_chars)
        return _work.invoke(self._transport, Stop(), message, waiting)

    def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        queue: str | None = None,
        session: str | None = None,
        timeout: float = 600.0,
        wait: float = 15.0,
        idempotency_key: str | None = None,
    ) -> Any:
        """
        Calls one tool and gives its whole output. Raises a ToolError when the tool or its call failed, with the code
        `TIMEOUT` when it hasn't ended within `timeout`.
        """
        waiting = Waiting(queue, session, timeout, wait, idempotency_key)
        return _work.call(self._transport, Stop(), name, arguments, waiting)

    def follow(self, job: str | JobView, *, after: str | None = None) -> Iterator[JobEvent]:
        """
        Follows a job until it has ended, over broken connections and restarts of the service. The last event is `end`.

        :param after: the id of the last line of the log that is known already.
        """
        return _work.follow(self._transport, Stop(), _work.id_of(job), after)

    def cancel(self, job: str | JobView) -> JobView:
        """Cancels a job; a ToolyardError `CONFLICT` when it has finished."""
        return self.jobs.cancel(_work.id_of(job))
