# Made of _secrets.py by scripts/python-aio.mjs.
from __future__ import annotations

from . import _work
from ._threads import in_thread
from ._transport import Transport
from ._types import SecretList, SecretScope


class AsyncSecrets:
    """Secrets that tools use, for keys with the role `admin`. No value is read back. All methods raise a ToolyardError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def set(self, name: str, value: str, *, scope: SecretScope | None = None, tenant: str | None = None) -> None:
        """
        Stores a value, in place of one of the same name. `scope`: whose it is; for a key of a tenant `tenant` when absent,
        else `operator`. `tenant` is for keys without one.
        """
        body = {"value": value, "scope": scope, "tenant": tenant}
        await in_thread(lambda stop: _work.set_secret(self._transport, stop, name, body))

    async def list(self) -> SecretList:
        """Those that this key may see, by name."""
        return await in_thread(lambda stop: _work.list_secrets(self._transport, stop))

    async def remove(self, name: str, *, scope: SecretScope | None = None, tenant: str | None = None) -> None:
        """The next call of any worker doesn't use it any more."""
        query = {"scope": scope, "tenant": tenant}
        await in_thread(lambda stop: _work.remove_secret(self._transport, stop, name, dict(query)))
