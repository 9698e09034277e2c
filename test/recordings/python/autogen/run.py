import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from scenario import *

telemetry()
for t in TOOLS:
    t.__annotations__["return"] = object
agent = AssistantAgent(
    "support_agent", OpenAIChatCompletionClient(model=MODEL), tools=TOOLS, system_message=SYSTEM, max_tool_iterations=10
)


async def main():
    for text in PROMPT, YES:
        await agent.run(task=text)


asyncio.run(main())
