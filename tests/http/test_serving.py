"""How the server listens."""

import asyncio
import socket

from foliot.serving import Server


def test_no_answer_waits_for_the_one_before_it_to_be_acknowledged() -> None:
    server = Server(None, "127.0.0.1", 0)

    async def is_without_delay() -> int:
        met: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            met.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = await asyncio.start_server(meet, sock=server._socket)
        async with listening:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            try:
                return await met
            finally:
                writer.close()

    assert asyncio.run(is_without_delay()) == 1
