import asyncio

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient
from scenario import *

telemetry()
from agent_framework.observability import enable_instrumentation

enable_instrumentation(enable_sensitive_data=True)
agent = Agent(client=OpenAIChatClient(model=MODEL), name="support-agent", instructions=SYSTEM, tools=TOOLS)


async def main():
    session = agent.create_session()
    for text in PROMPT, YES:
        await agent.run(text, session=session)


asyncio.run(main())
