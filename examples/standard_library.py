"""An agent on chat completions, with Python's standard library alone."""

import json
import os
import sys
import urllib.request

from toolyard import Toolyard


def complete(messages, tools):
    request = urllib.request.Request(
        f"{os.environ.get('OPENAI_BASE_URL', 'https://api.openai.com/v1')}/chat/completions",
        headers={"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "content-type": "application/json"},
        data=json.dumps({"model": os.environ.get("MODEL", "gpt-5.2"), "messages": messages, "tools": tools}).encode(),
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


toolyard = Toolyard()
tools = toolyard.tools("chat")
messages = [{"role": "user", "content": sys.argv[1] if len(sys.argv) > 1 else "Which files do I have?"}]
while True:
    message = complete(messages, tools)
    answers = toolyard.invoke(message)
    if not answers:
        break
    messages += [message, *answers]
print(message["content"])
