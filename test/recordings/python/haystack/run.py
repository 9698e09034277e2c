from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from scenario import *

telemetry()
if not INSTRUMENTS:
    from haystack import tracing
    from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
    from opentelemetry import trace

    tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
    tracing.tracer.is_content_tracing_enabled = True
agent = Agent(chat_generator=OpenAIChatGenerator(model=MODEL), tools=[create_tool_from_function(t) for t in TOOLS], system_prompt=SYSTEM)
agent.warm_up()
messages = []
for text in PROMPT, YES:
    messages.append(ChatMessage.from_user(text))
    answer = attempt(lambda: agent.run(messages=messages))
    messages = answer["messages"] if answer else messages
