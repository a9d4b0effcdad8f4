"""
An agent on chat completions, with the package `openai` for Python and asyncio.

Not run by the tests: they install nothing from PyPI. It is written against the documented shapes of `openai` 2.
"""

import asyncio
import os
import sys

from openai import AsyncOpenAI
from toolyard import AsyncToolyard


async def main() -> None:
    toolyard, openai = AsyncToolyard(), AsyncOpenAI()
    tools = await toolyard.tools("chat")
    messages = [{"role": "user", "content": sys.argv[1] if len(sys.argv) > 1 else "Which files do I have?"}]
    while True:
        completion = await openai.chat.completions.create(model=os.environ.get("MODEL", "gpt-5.2"), messages=messages, tools=tools)
        message = completion.choices[0].message
        answers = await toolyard.invoke(message)
        if not answers:
            break
        messages += [message.model_dump(exclude_none=True), *answers]
    print(message.content)


asyncio.run(main())
