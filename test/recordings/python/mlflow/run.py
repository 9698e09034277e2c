import loop
import mlflow
from openai import OpenAI
from scenario import *

mlflow.openai.autolog()
tools = {t.__name__: mlflow.trace(span_type="TOOL")(t) for t in TOOLS}
loop.run(OpenAI(), call=lambda name, args: tools[name](**args), wrap=mlflow.trace(span_type="AGENT"))
mlflow.flush_trace_async_logging()
