import loop
from openai import OpenAI
from scenario import *

telemetry()
loop.run(OpenAI())
