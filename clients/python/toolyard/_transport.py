from __future__ import annotations

import http.client
import io
import json
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Union
from urllib.parse import urlencode, urlsplit

from ._errors import ToolyardError
from ._patience import Patience, Stop
from ._response import WholeResponse

_SILENCE = 60.0
"""Seconds beyond what is expected, until a connection counts as broken; the service sends heartbeats more often."""
_PIECE = 65536
"""Bytes of a file that are in memory at a time."""

FileBody = Union[str, bytes, BinaryIO]
"""What a file is put from. A file that is open for reading bytes is sent in pieces, from where it is; again only where it can seek."""


class Transport:
    """Sends requests to one service, and sends them again while it is away. What makes work has an Idempotency-Key."""

    def __init__(self, url: str | None, api_key: str | None, retry_seconds: float) -> None:
        address = url or os.environ.get("TOOLYARD_URL") or "http://127.0.0.1:3001"
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"The url of Toolyard must begin with http:// or https://, unlike {address!r}")
        self._address = address
        self._host = parts.hostname
        self._port = parts.port
        self._base = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._api_key = _sendable(api_key or os.environ.get("TOOLYARD_API_KEY"))
        self._retry_seconds = retry_seconds

    def send(
        self,
        method: str,
        path: str,
        stop: Stop,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        content: FileBody | None = None,
        key: str | None = None,
        answer_seconds: float = 0.0,
    ) -> Any:
        """Gives the JSON of an answer; empty where it has none."""
        patience = Patience(self._retry_seconds)
        headers = {} if key is None else {"idempotency-key": key}
        source = None if content is None else _Source(content)
        while True:
            try:
                sent = source or body
                return self._once(method, _with_query(path, query), stop, headers, sent, _SILENCE + answer_seconds)
            except ToolyardError as error:
                if source is not None and not source.is_kept:
                    raise
                patience.wait(error, stop)

    def change(self, method: str, path: str, stop: Stop, found: str, query: Mapping[str, object] | None = None) -> None:
        """
        Makes something so, such as removed. A repeat that is answered with `found` finds what an earlier try did, whose
        answer was lost.
        """
        patience = Patience(self._retry_seconds)
        may_be_done = False
        while True:
            try:
                self._once(method, _with_query(path, query), stop, {}, None, _SILENCE)
                return
            except ToolyardError as error:
                if may_be_done and error.code == found:
                    return
                patience.wait(error, stop)
                may_be_done = may_be_done or error.code != "RATE_LIMITED"

    def whole(self, path: str, stop: Stop) -> bytes:
        """Gives the body of an answer, and asks again where it breaks off."""
        patience = Patience(self._retry_seconds)
        while True:
            try:
                with self._open("GET", path, stop, {"accept": "*/*"}, None, _SILENCE) as response:
                    content = response.read()
                    if response.status >= 300:
                        raise _error_of(response, _parse(content), content)
                    return content
            except ToolyardError as error:
                patience.wait(error, stop)

    def pieces(self, path: str, stop: Stop, query: Mapping[str, object] | None = None) -> Iterator[bytes]:
        """Gives the body of an answer as it comes. What breaks off then is an error: only who reads knows what to do."""
        patience = Patience(self._retry_seconds)
        while True:
            try:
                with self._open("GET", _with_query(path, query), stop, {"accept": "*/*"}, None, _SILENCE) as response:
                    if response.status >= 300:
                        text = response.read()
                        raise _error_of(response, _parse(text), text)
                    patience = Patience(0)
                    for piece in iter(lambda: response.read(_PIECE), b""):
                        stop.check()
                        yield piece
                    if response.length:
                        raise http.client.IncompleteRead(b"", response.length)
                    return
            except ToolyardError as error:
                patience.wait(error, stop)

    def events(self, path: str, stop: Stop, last_id: str | None) -> Iterator[tuple[str, Any]]:
        """
        Reads a stream of events, names and data, and opens it again after its last id when it breaks off. The caller
        leaves it when the last event has come.
        """
        patience = Patience(self._retry_seconds)
        while True:
            try:
                headers = {"accept": "text/event-stream", **({} if last_id is None else {"last-event-id": last_id})}
                with self._open("GET", path, stop, headers, None, _SILENCE) as response:
                    if response.status >= 300:
                        text = response.read()
                        raise _error_of(response, _parse(text), text)
                    for fields in _read_events(response):
                        patience.restored()
                        last_id = fields.get("id", last_id)
                        yield fields.get("event", "message"), json.loads(fields["data"])
                raise ToolyardError("UNREACHABLE", "The event stream ended before its job did")
            except ToolyardError as error:
                patience.wait(error, stop)

    def _once(
        self, method: str, target: str, stop: Stop, headers: Mapping[str, str], body: object, timeout: float
    ) -> Any:
        with self._open(method, target, stop, headers, body, timeout) as response:
            text = response.read()
            answer = {} if response.status == 204 else _parse(text)
            if response.status >= 300 or answer is None:
                raise _error_of(response, answer, text)
            return answer

    @contextmanager
    def _open(
        self, method: str, target: str, stop: Stop, headers: Mapping[str, str], body: object, timeout: float
    ) -> Iterator[http.client.HTTPResponse]:
        """One exchange on a connection of its own. What isn't an answer is a connection that failed or broke off."""
        stop.check()
        connection = self._connection(timeout)
        connection.response_class = WholeResponse
        try:
            connection.connect()
            stop.reads(connection.sock)
            try:
                connection.request(method, f"{self._base}{target}", **_content(self._api_key, headers, body))
            except (BrokenPipeError, ConnectionResetError):
                # A body that is refused isn't read to its end; the answer tells why.
                if not isinstance(body, _Source):
                    raise
            yield connection.getresponse()
        except _Unreadable as error:
            raise error.cause from None
        except ssl.SSLCertVerificationError as error:
            raise ToolyardError("BAD_ANSWER", f"The certificate of Toolyard is not trusted: {error.verify_message}") from error
        except (OSError, http.client.HTTPException) as error:
            stop.check()
            raise ToolyardError("UNREACHABLE", f"Toolyard can't be reached at {self._address}: {error or type(error).__name__}") from error
        finally:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)


class _Unreadable(Exception):
    """The file that is put can't be read: no fault of the connection."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class _Source:
    """A body that is sent as it is."""

    def __init__(self, content: FileBody) -> None:
        whole = content.encode() if isinstance(content, str) else content
        self._file = io.BytesIO(whole) if isinstance(whole, (bytes, bytearray, memoryview)) else whole
        self.is_kept = self._file.seekable()
        """Whether it can be sent again."""
        self._start = self._file.tell() if self.is_kept else 0

    def headers(self) -> dict[str, str]:
        """Without a length it is sent in chunks."""
        if not self.is_kept:
            return {}
        return {"content-length": str(max(0, self._file.seek(0, os.SEEK_END) - self._start))}

    def pieces(self) -> Iterator[bytes]:
        try:
            if self.is_kept:
                self._file.seek(self._start)
            while piece := self._file.read(_PIECE):
                yield piece
        except OSError as error:
            raise _Unreadable(error) from error


def _sendable(api_key: str | None) -> str | None:
    """A key that was read from a file mostly has a line break at its end. No error has the key in it."""
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("The api_key of Toolyard must be printable ASCII characters: no other arrives whole in a header")
    return key or None


def _content(api_key: str | None, headers: Mapping[str, str], body: object) -> dict[str, Any]:
    own = {"accept": "application/json", "connection": "close"}
    if api_key is not None:
        own["x-api-key"] = api_key
    if body is None:
        return {"headers": {**own, **headers}}
    if isinstance(body, _Source):
        return {"headers": {**own, **body.headers(), **headers}, "body": body.pieces()}
    return {"headers": {**own, "content-type": "application/json", **headers}, "body": _json(body)}


def _json(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except TypeError as error:
        raise TypeError(f"{error}: send a number that must keep its digits as an int or a str") from None
    except ValueError as error:
        raise ValueError(f"{error}: JSON has no nan and no infinity, and nothing that contains itself") from None


def _with_query(path: str, query: Mapping[str, object] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _read_events(response: http.client.HTTPResponse) -> Iterator[dict[str, str]]:
    """The fields of each event as they come; what is cut off at the end of the stream isn't one."""
    fields: dict[str, str] = {}
    for line in iter(response.readline, b""):
        text = line.decode().rstrip("\r\n")
        if text == "":
            if "data" in fields:
                yield fields
            fields = {}
        else:
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")


def _parse(text: bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _error_of(response: http.client.HTTPResponse, body: Any, text: bytes) -> ToolyardError:
    error = body.get("error") if isinstance(body, dict) else None
    after = response.getheader("retry-after", "")
    retry_after = float(after) if after.isdecimal() else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        code = "UNAVAILABLE" if response.status in (502, 503, 504) else "BAD_ANSWER"
        seen = text[:200].decode(errors="replace")
        message = f"What answered with status {response.status} isn't Toolyard: {seen}"
        return ToolyardError(code, message, status=response.status, retry_after=retry_after)
    return ToolyardError(
        str(error.get("code")),
        str(error.get("message")),
        status=response.status,
        details=error.get("details"),
        request_id=body.get("request_id") or response.getheader("x-request-id"),
        retry_after=retry_after,
    )
