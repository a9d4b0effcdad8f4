"""What test/other-clients/python-secrets.test.ts has the Python clients do; prints what came of it as JSON."""

import asyncio
import json
import sys
from typing import Any

from toolyard import AsyncToolyard, Toolyard, ToolyardError

toolyard = Toolyard()
seen: dict[str, Any] = {}


def listed() -> list[Any]:
    return sorted([secret["name"], secret["scope"], secret["tenant"]] for secret in toolyard.secrets.list()["secrets"])


toolyard.secrets.set("github", "a-value")
toolyard.secrets.set("github", "another", tenant="acme")
seen["stored"] = listed()
toolyard.secrets.remove("github")
seen["left"] = listed()
try:
    toolyard.secrets.remove("github")
except ToolyardError as error:
    seen["gone"] = [error.code, error.status]
try:
    toolyard.secrets.set("..", "a-value")
except ToolyardError as error:
    seen["no_name"] = error.code


async def use_async() -> None:
    client = AsyncToolyard()
    await client.secrets.set("github", "a-value", scope="key")
    seen["async_stored"] = sorted(secret["scope"] for secret in (await client.secrets.list())["secrets"])
    await client.secrets.remove("github", scope="key")
    await client.secrets.remove("github", tenant="acme")
    seen["async_left"] = (await client.secrets.list())["count"]


asyncio.run(use_async())
json.dump(seen, sys.stdout)
