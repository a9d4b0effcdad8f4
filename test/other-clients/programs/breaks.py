"""What test/other-clients/python-breaks.test.ts has the Python client do; prints what came of it as JSON."""

import json
import sys

from toolyard import Toolyard, ToolyardError

what, *args = sys.argv[1:]
toolyard = Toolyard()


def act() -> object:
    if what == "get":
        return toolyard.files.get(args[0]).decode()
    if what == "stream":
        return b"".join(toolyard.files.stream(args[0])).decode()
    if what == "call":
        return toolyard.call("add", {"a": 1, "b": 2})
    if what == "answer":
        return toolyard.jobs.answer(args[0], {"sure": True})["id"]
    if what == "promote":
        return toolyard.jobs.promote(args[0])["id"]
    removes = {"remove": toolyard.jobs.remove, "remove-secret": toolyard.secrets.remove, "remove-file": toolyard.files.remove}
    removes[what](args[0])
    return "removed"


try:
    print(json.dumps(act()))
except ToolyardError as error:
    print(json.dumps([error.code, error.status]))
