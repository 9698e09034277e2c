from scenario import *

telemetry()
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

agent = Agent(
    role="support-agent", goal="Help", backstory=SYSTEM, llm=LLM(model="openai/" + MODEL), tools=[tool(t) for t in TOOLS]
)
task = Task(name="support", description=PROMPT.replace("Ask me before you refund it.", ""), expected_output="text", agent=agent)
attempt(lambda: Crew(agents=[agent], tasks=[task]).kickoff())
