from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SQLiteSession, function_tool
from openai import AsyncOpenAI
from scenario import *

telemetry()
model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI()) if os.environ.get("RECORD_CHAT") else MODEL
agent = Agent(name="support-agent", instructions=SYSTEM, model=model, tools=[function_tool(t) for t in TOOLS])
session = SQLiteSession(CONVERSATION)
for text in PROMPT, YES:
    Runner.run_sync(agent, text, session=session, run_config=RunConfig(group_id=CONVERSATION))
