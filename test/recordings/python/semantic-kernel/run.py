import asyncio

from scenario import *
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function

telemetry()
plugin = type("Shop", (), {t.__name__: staticmethod(kernel_function(name=t.__name__)(t)) for t in TOOLS})()
agent = ChatCompletionAgent(service=OpenAIChatCompletion(ai_model_id=MODEL), name="support-agent", instructions=SYSTEM, plugins=[plugin])


async def main():
    thread = None
    for text in PROMPT, YES:
        thread = (await agent.get_response(messages=text, thread=thread)).thread


asyncio.run(main())
