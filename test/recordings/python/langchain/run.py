from langchain.agents import create_agent
from langchain.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from scenario import *

telemetry()
agent = create_agent(
    ChatOpenAI(model=MODEL), [tool(t) for t in TOOLS], system_prompt=SYSTEM, name="support-agent", checkpointer=InMemorySaver()
)
for text in PROMPT, YES:
    config = {"configurable": {"thread_id": CONVERSATION}}
    attempt(lambda: agent.invoke({"messages": [("user", text)]}, config))
