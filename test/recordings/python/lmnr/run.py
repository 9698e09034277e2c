from urllib.parse import urlparse

from lmnr import Instruments, Laminar, observe
from scenario import *

Laminar.initialize(
    project_api_key="test", base_url="http://127.0.0.1", http_port=urlparse(URL).port, force_http=True, instruments={Instruments.OPENAI}
)
import loop
from openai import OpenAI

tools = {t.__name__: observe(span_type="TOOL")(t) for t in TOOLS}
loop.run(OpenAI(), call=lambda name, args: tools[name](**args), wrap=observe())
Laminar.flush()
