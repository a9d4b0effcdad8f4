from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from . import _work
from ._aio_sessions import AsyncFiles, AsyncSessions
from ._threads import each_in_thread, in_thread
from ._transport import Transport
from ._types import Format, JobEvent, JobList, JobOrder, JobState, JobView, LogEntry
from ._work import Waiting


class AsyncJobs:
    """The jobs of a service. All methods raise a ToolyardError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def submit(
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
        """As `Jobs.submit`."""
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
        return await in_thread(lambda stop: _work.submit(self._transport, stop, job, idempotency_key))

    async def get(self, job_id: str) -> JobView:
        """As `Jobs.get`."""
        return await in_thread(lambda stop: _work.get(self._transport, stop, job_id))

    async def list(
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
        """As `Jobs.list`."""
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
        return await in_thread(lambda stop: _work.list_jobs(self._transport, stop, dict(query)))

    # `list` is a method here.
    async def logs(self, job_id: str, *, tail: int | None = None) -> _Entries:
        """As `Jobs.logs`."""
        return await in_thread(lambda stop: _work.logs(self._transport, stop, job_id, tail))

    async def cancel(self, job_id: str) -> JobView:
        """As `Jobs.cancel`."""
        return await in_thread(lambda stop: _work.cancel(self._transport, stop, job_id))


_Entries = list[LogEntry]


class AsyncToolyard:
    """As `Toolyard`, for asyncio. A task that is cancelled ends its request; the calls that it made go on."""

    def __init__(self, url: str | None = None, api_key: str | None = None, *, retry_seconds: float = 30.0) -> None:
        self._transport = Transport(url, api_key, retry_seconds)
        self.jobs = AsyncJobs(self._transport)
        self.sessions = AsyncSessions(self._transport)
        self.files = AsyncFiles(self._transport, "/v1/files")

    async def tools(self, format: Format = "chat", *, strict: bool = False) -> list[Any]:
        """As `Toolyard.tools`."""
        return await in_thread(lambda stop: _work.tools(self._transport, stop, format, strict))

    async def invoke(
        self,
        message: Any,
        *,
        queue: str | None = None,
        session: str | None = None,
        timeout: float = 600.0,
        wait: float = 15.0,
        idempotency_key: str | None = None,
    ) -> list[Any]:
        """As `Toolyard.invoke`."""
        waiting = Waiting(queue, session, timeout, wait, idempotency_key)
        return await in_thread(lambda stop: _work.invoke(self._transport, stop, message, waiting))

    async def call(
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
        """As `Toolyard.call`."""
        waiting = Waiting(queue, session, timeout, wait, idempotency_key)
        return await in_thread(lambda stop: _work.call(self._transport, stop, name, arguments, waiting))

    async def follow(self, job: str | JobView, *, after: str | None = None) -> AsyncIterator[JobEvent]:
        """As `Toolyard.follow`."""
        job_id = _work.id_of(job)
        async for event in each_in_thread(lambda stop: _work.follow(self._transport, stop, job_id, after)):
            yield event

    async def cancel(self, job: str | JobView) -> JobView:
        """As `Toolyard.cancel`."""
        return await self.jobs.cancel(_work.id_of(job))
