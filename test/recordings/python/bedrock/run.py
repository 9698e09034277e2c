import json

import boto3
from scenario import *

telemetry()
client = boto3.client("bedrock-runtime")
tools = {"tools": [{"toolSpec": {"name": t.__name__, "inputSchema": {"json": SCHEMAS[t.__name__]}}} for t in TOOLS]}
messages = []


def turn():
    while True:
        answer = client.converse(modelId="anthropic.claude-3-haiku-20240307-v1:0", system=[{"text": SYSTEM}], messages=messages, toolConfig=tools)
        messages.append(answer["output"]["message"])
        if answer["stopReason"] != "tool_use":
            return
        results = []
        for use in [b["toolUse"] for b in messages[-1]["content"]]:
            result = {"toolUseId": use["toolUseId"], "status": "success"}
            try:
                value = {t.__name__: t for t in TOOLS}[use["name"]](**use["input"])
                result["content"] = [{"text": value} if isinstance(value, str) else {"json": value}]
            except RuntimeError as e:
                result |= {"content": [{"text": str(e)}], "status": "error"}
            results.append({"toolResult": result})
        messages.append({"role": "user", "content": results})


for text in PROMPT, YES:
    messages.append({"role": "user", "content": [{"text": text}]})
    request(turn)
