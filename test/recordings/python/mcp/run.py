import asyncio
import sys

from scenario import *

telemetry()
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.fastmcp import FastMCP

if "server" in sys.argv:
    server = FastMCP("shop")
    for t in TOOLS:
        server.add_tool(t)
    server.run()
    sys.exit()


async def main():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=[__file__, "server"], env=dict(os.environ))) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            for name, args in CALLS:
                await session.call_tool(name, args)


asyncio.run(main())
