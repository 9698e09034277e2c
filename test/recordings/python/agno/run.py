from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from scenario import *

telemetry()
agent = Agent(name="support-agent", model=OpenAIChat(id=MODEL), tools=TOOLS, instructions=SYSTEM, db=InMemoryDb(),
              add_history_to_context=True, session_id=CONVERSATION, telemetry=False)  # fmt: skip
for text in PROMPT, YES:
    attempt(lambda: agent.run(text))
