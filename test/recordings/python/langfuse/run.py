import loop
from scenario import *

if os.environ.get("RECORD_LANGCHAIN"):
    from langchain.agents import create_agent
    from langchain.tools import tool
    from langchain_openai import ChatOpenAI
    from langfuse import get_client
    from langfuse.langchain import CallbackHandler

    agent = create_agent(ChatOpenAI(model=MODEL), [tool(t) for t in TOOLS], system_prompt=SYSTEM, name="support-agent")
    messages = []
    for text in PROMPT, YES:
        messages.append(("user", text))
        config = {"callbacks": [CallbackHandler()], "metadata": {"langfuse_session_id": CONVERSATION}}
        answer = attempt(lambda: agent.invoke({"messages": messages}, config))
        messages = answer["messages"] if answer else messages
else:
    from langfuse import get_client, observe
    from langfuse.openai import OpenAI

    tools = {t.__name__: observe(as_type="tool")(t) for t in TOOLS}
    get_client()
    loop.run(OpenAI(), call=lambda name, args: tools[name](**args), wrap=observe())
get_client().flush()
