from scenario import *
from smolagents import OpenAIModel, ToolCallingAgent, tool

telemetry()
for t in TOOLS:
    t.__annotations__["return"] = object
agent = ToolCallingAgent(
    [tool(t) for t in TOOLS], OpenAIModel(MODEL, api_base=URL + "/v1", api_key="test"), name="support_agent", instructions=SYSTEM
)
agent.run(PROMPT)
agent.run(YES, reset=False)
