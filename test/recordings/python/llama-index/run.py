import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.llms.openai_like import OpenAILike
from scenario import *

telemetry()
llm = OpenAILike(model=MODEL, api_base=URL + "/v1", api_key="test", is_chat_model=True, is_function_calling_model=True)
agent = FunctionAgent(name="support-agent", tools=TOOLS, llm=llm, system_prompt=SYSTEM)
memory = Memory.from_defaults(session_id=CONVERSATION)


async def main():
    for text in PROMPT, YES:
        await agent.run(text, memory=memory)


asyncio.run(main())
