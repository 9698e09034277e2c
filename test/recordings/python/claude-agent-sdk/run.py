import asyncio
import json

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool
from scenario import *

if INSTRUMENTS:
    telemetry()


def served(t):
    @tool(t.__name__, t.__doc__, SCHEMAS[t.__name__])
    async def call(args):
        result = t(**args)
        return {"content": [{"type": "text", "text": result if isinstance(result, str) else json.dumps(result)}]}

    return call


async def main():
    options = ClaudeAgentOptions(
        mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[served(t) for t in TOOLS])},
        allowed_tools=["mcp__shop__" + t.__name__ for t in TOOLS], tools=[], setting_sources=[], model="claude-sonnet-4-5",
        system_prompt=SYSTEM, cwd=os.environ["HOME"])  # fmt: skip
    async with ClaudeSDKClient(options) as client:
        for text in PROMPT, YES:
            await client.query(text)
            async for _ in client.receive_response():
                pass


asyncio.run(main())
