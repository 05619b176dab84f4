"""TCP flows that are checked.

``flows.py serve`` takes them, ``flows.py send ADDRESS FLOWS BYTES SEED`` makes them. A sender
waits for the hash of what arrived. It prints how many flows came through and how many hashes differ.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sys

PORT = 7000
_PATIENCE_SECONDS = 60


async def _take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    digest = hashlib.sha256()
    while part := await reader.read(65536):
        digest.update(part)
    writer.write(digest.digest())
    await writer.drain()
    writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_take, "0.0.0.0", PORT, backlog=2048)
    print("up", flush=True)
    await server.serve_forever()


async def _flow(address: str, octets: bytes) -> bool:
    reader, writer = await asyncio.open_connection(address, PORT)
    writer.write(octets)
    await writer.drain()
    writer.write_eof()
    arrived = await reader.readexactly(32)
    writer.close()
    return arrived == hashlib.sha256(octets).digest()


async def _send(address: str, flows: int, size: int, seed: int) -> None:
    contents = [random.Random(seed + flow).randbytes(size) for flow in range(flows)]
    whole = await asyncio.wait_for(
        asyncio.gather(*(_flow(address, octets) for octets in contents)), _PATIENCE_SECONDS
    )
    print(sum(whole), len(whole) - sum(whole))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(_serve())
    else:
        asyncio.run(_send(sys.argv[2], *map(int, sys.argv[3:])))
