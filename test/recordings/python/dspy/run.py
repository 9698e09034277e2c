import dspy
from scenario import *

telemetry()
dspy.configure(lm=dspy.LM("openai/" + MODEL, api_base=URL + "/v1", api_key="test", cache=False))
react = dspy.ReAct("question -> answer", tools=TOOLS)
react(question=PROMPT.replace("Ask me before you refund it.", ""))
