"""Event-socket client for a test, on the package websockets only. Prints every frame it receives as one JSON line with the time of its arrival.

Arguments: address, subscribe message. Lines on stdin: {"update": {"add": ..., "remove": ...}} or {"pause": seconds}. Resumes from the newest cursor.
"""

import asyncio
import json
import sys
import time

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

address, subscribe = sys.argv[1], json.loads(sys.argv[2])
cursor = None
paused_until = 0.0
updates = []
change_filters = asyncio.Event()


def apply(filters, change):
    """The filters with the items of an update, so that a new connection continues with them."""
    for name, items in change.get("remove", {}).items():
        filters[name] = [item for item in filters[name] if item not in items]
    for name, items in change.get("add", {}).items():
        filters[name] = filters.get(name, []) + [item for item in items if item not in filters.get(name, [])]


async def read_commands():
    global paused_until
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        if "pause" in command:
            paused_until = time.monotonic() + command["pause"]
        else:
            updates.append(command["update"])
            change_filters.set()


async def send_updates(socket, subscription_id, sent):
    while True:
        await change_filters.wait()
        change_filters.clear()
        for change in updates:
            sent.append(change)
            await socket.send(json.dumps({"action": "update", "subscription_id": subscription_id, **change}))
        updates.clear()


async def run_connection(socket):
    global cursor
    filters = dict(subscribe["filters"])
    if cursor is not None:
        filters["since_seq"] = cursor
    await socket.send(json.dumps({**subscribe, "filters": filters}))
    sender, sent, epoch = None, [], None
    try:
        while True:
            while time.monotonic() < paused_until:
                await asyncio.sleep(0.05)
            text = await asyncio.wait_for(socket.recv(), 15)
            frame = json.loads(text)
            print(json.dumps({"at": time.time() * 1000, "frame": frame}), flush=True)
            if frame["type"] == "subscribed":
                epoch = frame["epoch"]
                sender = asyncio.create_task(send_updates(socket, frame["subscription_id"], sent))
            if frame["type"] == "updated":
                apply(subscribe["filters"], sent.pop(0))
            position = frame.get("to_seq") if frame["type"] == "skipped" else frame.get("seq")
            if position is not None and epoch is not None:
                newest = -1 if cursor is None else int(cursor.split(":")[1])
                cursor = f"{epoch}:{max(newest, position)}"
    finally:
        # An update without a response is sent again on the next connection.
        updates[:0] = sent
        if updates:
            change_filters.set()
        if sender is not None:
            sender.cancel()


async def main():
    commands = asyncio.create_task(read_commands())
    while not commands.done():
        try:
            async with connect(address, max_size=None, open_timeout=5, close_timeout=1) as socket:
                await run_connection(socket)
        except (WebSocketException, OSError, asyncio.TimeoutError):
            await asyncio.sleep(0.2)


asyncio.run(main())
