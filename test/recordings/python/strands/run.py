from scenario import *
from strands import Agent, tool
from strands.models.openai import OpenAIModel

telemetry()
model = OpenAIModel(client_args={"base_url": URL + "/v1", "api_key": "test"}, model_id=MODEL)
agent = Agent(model, tools=[tool(t) for t in TOOLS], system_prompt=SYSTEM, name="support-agent", callback_handler=None,
              trace_attributes={"session.id": CONVERSATION})  # fmt: skip
for text in PROMPT, YES:
    agent(text)
