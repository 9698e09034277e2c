from google import genai
from google.genai import types
from scenario import *

telemetry()
client = genai.Client()
config = types.GenerateContentConfig(tools=TOOLS, system_instruction=SYSTEM)
chat = client.chats.create(model="gemini-2.5-flash", config=config)
for text in PROMPT, YES:
    request(lambda: chat.send_message(text))
