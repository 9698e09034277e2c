import loop
from scenario import *

telemetry()
import langsmith

if os.environ.get("RECORD_LANGCHAIN"):
    from langchain.agents import create_agent
    from langchain.tools import tool
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model=MODEL), [tool(t) for t in TOOLS], system_prompt=SYSTEM, name="support-agent")
    messages = []
    for text in PROMPT, YES:
        messages.append(("user", text))
        answer = attempt(lambda: agent.invoke({"messages": messages}, {"metadata": {"thread_id": CONVERSATION}}))
        messages = answer["messages"] if answer else messages
else:
    from langsmith.wrappers import wrap_openai
    from openai import OpenAI

    tools = {t.__name__: langsmith.traceable(run_type="tool")(t) for t in TOOLS}
    loop.run(wrap_openai(OpenAI()), call=lambda name, args: tools[name](**args), wrap=langsmith.traceable(run_type="chain"))
langsmith.Client().flush()
