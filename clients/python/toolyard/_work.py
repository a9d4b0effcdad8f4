"""What both clients do. Each function runs in the thread of a caller, who may end it through `stop`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import ToolError, ToolyardError
from ._messages import batches_of, join_answers
from ._path import path_segment
from ._patience import Stop
from ._transport import Transport
from ._types import (
    ApprovalDetail,
    ApprovalList,
    CallResult,
    EndEvent,
    Format,
    JobEvent,
    JobList,
    JobView,
    LogEntry,
    LogEvent,
    ProgressEvent,
    SecretList,
    StateEvent,
)

_PAUSE = 0.2
"""Seconds between two requests when the first was answered before its time, as when the service stops."""


@dataclass(frozen=True)
class Waiting:
    """How calls are made and waited for, in seconds."""

    queue: str | None
    session: str | None
    timeout: float
    wait: float
    idempotency_key: str | None
    max_output_chars: int | None = None


def tools(
    transport: Transport, stop: Stop, form: Format, strict: bool, chosen: dict[str, object], pinned: Sequence[str] | None
) -> list[Any]:
    deferred: dict[str, object] = {} if pinned is None else {"defer": "1", "pin": ",".join(pinned) or None}
    query: dict[str, object] = {"format": form, "strict": "true" if strict else None, **chosen, **deferred}
    answer = transport.send("GET", "/v1/agent-tools", stop, query=query)
    return list(answer["tools"])


def invoke(transport: Transport, stop: Stop, message: Any, waiting: Waiting) -> list[Any]:
    key = waiting.idempotency_key or new_key()
    until = time.monotonic() + waiting.timeout
    batches = batches_of(message)
    keys = [key if index == 0 else f"{key}-{index}" for index in range(len(batches))]
    # All are under way before one is waited for.
    for batch, own in zip(batches[:-1], keys[:-1]):
        _send(transport, stop, batch, waiting, own, 0.1)
    answers = [_batch(transport, stop, batch, waiting, own, until, for_model=True) for batch, own in zip(batches, keys)]
    return join_answers([answer["messages"] for answer in answers])


def call(transport: Transport, stop: Stop, name: str, arguments: dict[str, Any] | None, waiting: Waiting) -> Any:
    body = {"calls": [{"call_id": "1", "name": name, "arguments": {} if arguments is None else arguments}]}
    answer = _batch(transport, stop, body, waiting, waiting.idempotency_key or new_key(), time.monotonic() + waiting.timeout)
    result: CallResult = answer["results"][0]
    if result["ok"]:
        return _whole(transport, stop, result)
    error = result["error"]
    raise ToolError(name, result.get("job_id"), error["code"], error["message"], details=error.get("details"))


def follow(transport: Transport, stop: Stop, job_id: str, after: str | None) -> Iterator[JobEvent]:
    shown: JobView | None = None
    for name, data in transport.events(job_path(job_id, "/stream"), stop, after):
        if name == "log_append":
            yield LogEvent(type="log", entry=data)
        elif name == "progress":
            yield ProgressEvent(type="progress", progress=data["progress"])
        # A stream that is opened again begins with the job as it is.
        elif name == "job_update" and data["job"] != shown:
            shown = data["job"]
            yield StateEvent(type="state", job=data["job"])
        elif name == "end":
            if shown is None or data["reason"] == "deleted":
                raise ToolyardError("NOT_FOUND", f"Job {job_id} is no longer kept")
            yield EndEvent(type="end", job=shown)
            return


def submit(transport: Transport, stop: Stop, job: dict[str, Any], key: str | None) -> JobView:
    given = {name: value for name, value in job.items() if value is not None}
    answer: JobView = transport.send("POST", "/v1/jobs", stop, body=given, key=key or new_key())["job"]
    return answer


def get(transport: Transport, stop: Stop, job_id: str) -> JobView:
    answer: JobView = transport.send("GET", job_path(job_id), stop)["job"]
    return answer


def list_jobs(transport: Transport, stop: Stop, query: dict[str, object]) -> JobList:
    answer: JobList = transport.send("GET", "/v1/jobs", stop, query=query)
    return answer


def logs(transport: Transport, stop: Stop, job_id: str, tail: int | None) -> list[LogEntry]:
    answer: list[LogEntry] = transport.send("GET", job_path(job_id, "/logs"), stop, query={"tail": tail})["logs"]
    return answer


def answer(transport: Transport, stop: Stop, job_id: str, given: dict[str, Any], number: int | None) -> JobView:
    asked = number
    if asked is None:
        # Without a number, an answer that is sent again would answer what the tool asks next.
        now = get(transport, stop, job_id)
        if "question" not in now:
            raise ToolyardError("CONFLICT", f"The job asks nothing: it is {now['status']}")
        asked = now["question"]["number"]
    body = {"answer": given, "number": asked}
    job: JobView = transport.send("POST", job_path(job_id, "/answer"), stop, body=body)["job"]
    return job


def list_approvals(transport: Transport, stop: Stop, query: dict[str, object]) -> ApprovalList:
    answer: ApprovalList = transport.send("GET", "/v1/approvals", stop, query=query)
    return answer


def approval(transport: Transport, stop: Stop, job_id: str) -> ApprovalDetail:
    answer: ApprovalDetail = transport.send("GET", f"/v1/approvals/{path_segment(job_id)}", stop)["approval"]
    return answer


def decide(transport: Transport, stop: Stop, job_id: str, decision: str, digest: str, reason: str | None) -> ApprovalDetail:
    body = {"decision": decision, "digest": digest} if reason is None else {"decision": decision, "digest": digest, "reason": reason}
    answer: ApprovalDetail = transport.send("POST", f"/v1/approvals/{path_segment(job_id)}", stop, body=body)["approval"]
    return answer


def promote(transport: Transport, stop: Stop, job_id: str) -> JobView:
    transport.change("POST", job_path(job_id, "/promote"), stop, "CONFLICT")
    return get(transport, stop, job_id)


def remove(transport: Transport, stop: Stop, job_id: str) -> None:
    transport.change("DELETE", job_path(job_id), stop, "NOT_FOUND")


def cancel(transport: Transport, stop: Stop, job_id: str) -> JobView:
    try:
        answer: JobView = transport.send("POST", job_path(job_id, "/cancel"), stop)["job"]
        return answer
    except ToolyardError as error:
        # A cancel whose answer was lost, and that was sent again.
        if error.code != "CONFLICT":
            raise
        job = get(transport, stop, job_id)
        if job["status"] != "cancelled":
            raise
        return job


def id_of(job: str | JobView) -> str:
    return job["id"] if isinstance(job, dict) else job


def job_path(job_id: str, rest: str = "") -> str:
    return f"/v1/jobs/{path_segment(job_id)}{rest}"


def new_key() -> str:
    return uuid.uuid4().hex


def _batch(
    transport: Transport, stop: Stop, body: dict[str, Any], waiting: Waiting, key: str, until: float, *, for_model: bool = False
) -> Any:
    """A batch that is sent again with the same key gets the answers of the same jobs: so pending calls are waited for."""
    while True:
        started = time.monotonic()
        wait = waiting.wait if waiting.timeout == 0 else max(0.1, min(waiting.wait, until - started))
        answer = _send(transport, stop, body, waiting, key, wait)
        pending = any(_is_waited_for(result, for_model=for_model) for result in answer["results"])
        if time.monotonic() >= until or not pending:
            return answer
        if time.monotonic() - started < wait:
            stop.sleep(_PAUSE)


def _is_waited_for(result: CallResult, *, for_model: bool) -> bool:
    # Of `job_result` the model has said itself how long it waits, and it is told of a call that waits for a person.
    if not result.get("pending") or result["name"] == "job_result":
        return False
    return not (for_model and result.get("error", {}).get("code") in {"HELD", "INPUT_REQUIRED"})


def set_secret(transport: Transport, stop: Stop, name: str, body: dict[str, Any]) -> None:
    given = {field: value for field, value in body.items() if value is not None}
    transport.send("PUT", f"/v1/secrets/{path_segment(name)}", stop, body=given)


def list_secrets(transport: Transport, stop: Stop) -> SecretList:
    answer: SecretList = transport.send("GET", "/v1/secrets", stop)
    return answer


def remove_secret(transport: Transport, stop: Stop, name: str, query: dict[str, object]) -> None:
    transport.change("DELETE", f"/v1/secrets/{path_segment(name)}", stop, "NOT_FOUND", query)


def _send(transport: Transport, stop: Stop, body: dict[str, Any], waiting: Waiting, key: str, wait: float) -> Any:
    sent: dict[str, Any] = {**body, "wait_ms": round(wait * 1000)}
    if waiting.queue is not None:
        sent["queue"] = waiting.queue
    if waiting.session is not None:
        sent["session"] = waiting.session
    if waiting.max_output_chars is not None:
        sent["max_output_chars"] = waiting.max_output_chars
    return transport.send("POST", "/v1/agent-tools/invoke-batch", stop, body=sent, key=key, answer_seconds=wait)


def _whole(transport: Transport, stop: Stop, result: CallResult) -> Any:
    """A long output is cut for a model; the job has it whole."""
    output = result.get("output")
    if "job_id" not in result or not isinstance(output, dict) or not {"truncated", "preview"} <= output.keys():
        return output
    return get(transport, stop, result["job_id"])["result"]
