"""Has the Python client answer the messages of its argument; prints the answers as JSON."""

import json
import sys
from types import SimpleNamespace
from typing import Any

from toolyard import Toolyard


def as_object(message: dict[str, Any]) -> SimpleNamespace:
    """As the libraries of the providers have it: an object whose items have a way to a dictionary."""

    def item_of(item: dict[str, Any]) -> SimpleNamespace:
        return SimpleNamespace(**item, model_dump=lambda mode: item)

    fields = {
        name: [item_of(each) if isinstance(each, dict) else each for each in value] if isinstance(value, list) else value
        for name, value in message.items()
    }
    return SimpleNamespace(**fields)


toolyard = Toolyard()
answers = []
for message in json.loads(sys.argv[1]):
    own = toolyard.invoke(message)
    if isinstance(message, dict):
        assert toolyard.invoke(as_object(message)) == own
    answers.append(own)
print(json.dumps(answers))
