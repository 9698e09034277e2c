"""An agent without a framework: the loop around an OpenAI client."""

import json

from scenario import *


def run(client, call=None, wrap=lambda turn: lambda text: request(lambda: turn(text))):
    """Play the scenario. Tools are called by call, and each turn is wrapped by wrap."""
    tools = {t.__name__: t for t in TOOLS}
    call = call or (lambda name, args: tools[name](**args))
    schemas = [{"type": "function", "function": {"name": n, "parameters": SCHEMAS[n]}} for n in tools]
    messages = [{"role": "system", "content": SYSTEM}]

    def support(text):
        messages.append({"role": "user", "content": text})
        while True:
            answer = client.chat.completions.create(model=MODEL, messages=messages, tools=schemas).choices[0].message
            messages.append(answer.model_dump(exclude_none=True))
            if not answer.tool_calls:
                return answer.content
            for c in answer.tool_calls:
                try:
                    result = call(c.function.name, json.loads(c.function.arguments))
                    content = result if isinstance(result, str) else json.dumps(result)
                except RuntimeError as e:
                    content = f"Error: {e}"
                messages.append({"role": "tool", "tool_call_id": c.id, "content": content})

    for text in PROMPT, YES:
        wrap(support)(text)
