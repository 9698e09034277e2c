import asyncio
import json

from agentscope.agent import Agent
from agentscope.credential import OpenAICredential
from agentscope.message import TextBlock, UserMsg
from agentscope.middleware import TracingMiddleware
from agentscope.model import OpenAIChatModel
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import FunctionTool, Toolkit, ToolChunk
from scenario import *

telemetry()


def tool(t):
    async def call(**arguments):
        result = t(**arguments)
        return ToolChunk(content=[TextBlock(text=result if isinstance(result, str) else json.dumps(result))])

    allowed = PermissionDecision(behavior=PermissionBehavior.ALLOW, message="allowed")
    return FunctionTool(call, name=t.__name__, description=t.__doc__, input_schema=SCHEMAS[t.__name__], permission=allowed)


model = OpenAIChatModel(OpenAICredential(api_key="test", base_url=URL + "/v1"), MODEL)
agent = Agent("support_agent", SYSTEM, model, Toolkit([tool(t) for t in TOOLS]), [TracingMiddleware()])


async def main():
    for text in PROMPT, YES:
        await agent.reply(UserMsg("user", text))


asyncio.run(main())
