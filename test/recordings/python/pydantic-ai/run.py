from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from scenario import *

telemetry()
if os.environ.get("RECORD_VERSION"):
    from pydantic_ai import InstrumentationSettings

    Agent.instrument_all(InstrumentationSettings(version=int(os.environ["RECORD_VERSION"])))
elif os.environ.get("RECORD_LOGFIRE"):
    import logfire

    logfire.configure(send_to_logfire=False)
    logfire.instrument_pydantic_ai()
agent = Agent(OpenAIChatModel(MODEL), name="support-agent", tools=TOOLS, instructions=SYSTEM)
around = request if os.environ.get("RECORD_ROOT") else lambda turn: turn()
history = around(lambda: agent.run_sync(PROMPT)).all_messages()
attempt(lambda: around(lambda: agent.run_sync(YES, message_history=history)))
