import logfire
from scenario import *

logfire.configure(send_to_logfire=False, console=False)
logfire.instrument_openai_agents()
from agents import Agent, Runner, SQLiteSession, function_tool

agent = Agent(name="support-agent", instructions=SYSTEM, model=MODEL, tools=[function_tool(t) for t in TOOLS])
session = SQLiteSession(CONVERSATION)
for text in PROMPT, YES:
    Runner.run_sync(agent, text, session=session)
logfire.force_flush()
