import json

from anthropic import Anthropic
from scenario import *

telemetry()
client = Anthropic()
tools = [{"name": t.__name__, "input_schema": SCHEMAS[t.__name__]} for t in TOOLS]
messages = []


def turn():
    while True:
        answer = client.messages.create(model="claude-sonnet-4-5", max_tokens=1000, system=SYSTEM, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]})
        if answer.stop_reason != "tool_use":
            return
        results = []
        for b in answer.content:
            result = {"type": "tool_result", "tool_use_id": b.id}
            try:
                value = {t.__name__: t for t in TOOLS}[b.name](**b.input)
                result["content"] = value if isinstance(value, str) else json.dumps(value)
            except RuntimeError as e:
                result |= {"content": str(e), "is_error": True}
            results.append(result)
        messages.append({"role": "user", "content": results})


for text in PROMPT, YES:
    messages.append({"role": "user", "content": text})
    request(turn)
