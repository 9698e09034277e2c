import asyncio

from fastmcp import Client, FastMCP
from scenario import *

telemetry()
server = FastMCP("shop")
for t in TOOLS:
    server.tool(t)


async def main():
    async with Client(server) as client:
        for name, args in CALLS:
            await client.call_tool(name, args, raise_on_error=False)


asyncio.run(main())
