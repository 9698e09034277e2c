import asyncio

from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.telemetry import set_tracer_provider
from livekit.plugins import openai
from scenario import *

set_tracer_provider(telemetry(), allow_pii=True)


def raw(t):
    async def call(raw_arguments: dict):
        return t(**raw_arguments)

    return function_tool(call, raw_schema={"name": t.__name__, "description": t.__doc__, "parameters": SCHEMAS[t.__name__]})


async def main():
    async with openai.LLM(model=MODEL) as llm, AgentSession(llm=llm) as session:
        await session.start(Agent(instructions=SYSTEM, tools=[raw(t) for t in TOOLS]))
        for text in PROMPT, YES:
            await session.run(user_input=text)


asyncio.run(main())
