from genkit import Genkit
from genkit_openai import OpenAI
from scenario import *

telemetry()
ai = Genkit(plugins=[OpenAI(api_key="test")], model="openai/gpt-4o-mini")


def define(t):
    async def call(input: dict):
        return t(**input)

    ai.tool(name=t.__name__, description=t.__doc__, input_schema=SCHEMAS[t.__name__])(call)


for t in TOOLS:
    define(t)


async def main():
    messages = None
    for text in PROMPT, YES:
        answer = await ai.generate(system=SYSTEM, prompt=text, messages=messages, tools=[t.__name__ for t in TOOLS], max_turns=10)
        messages = answer.messages


try:
    ai.run_main(main())
except Exception as e:
    print(repr(e))
