import asyncio

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.genai import types
from scenario import *

telemetry()
agent = Agent(name="support_agent", model="gemini-2.5-flash", instruction=SYSTEM, tools=TOOLS)


async def main():
    runner = InMemoryRunner(agent, app_name="support")
    await runner.session_service.create_session(app_name="support", user_id="user", session_id=CONVERSATION)
    for text in PROMPT, YES:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="user", session_id=CONVERSATION, new_message=message):
            pass


try:
    asyncio.run(main())
except RuntimeError as e:
    print(e)
