"""The official Python client of the reference service, unchanged. Prints the type and transaction of every event that it delivers.

Arguments: address without a query, key.
"""

import asyncio
import json
import sys

from polynode.types.ws import WsOptions
from polynode.ws import PolyNodeWS


async def main():
    client = PolyNodeWS(sys.argv[2], sys.argv[1], WsOptions(reconnect_base_delay=0.2, reconnect_max_delay=1.0))
    client.on_error(lambda error: print(json.dumps({"error": str(error)}), flush=True))
    client.on_heartbeat(lambda ts: print(json.dumps({"heartbeat": ts}), flush=True))
    await client.connect()
    subscription = await client.subscribe("trades").snapshot_count(0).send()
    async for event in subscription:
        print(json.dumps({"type": event.event_type, "tx_hash": event.tx_hash}), flush=True)


asyncio.run(main())
