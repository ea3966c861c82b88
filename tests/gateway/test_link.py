"""The client side of the gateway on the wire: every shape of a response, and every way to break."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haltwise.gateway.link import Asked, Broken, Links, Unreachable


async def _serve(answers, main, **options):
    """Serve one wire text (or coroutine) per request of a connection; count the connections."""
    connections = []

    async def handle(reader, writer):
        connections.append(writer)
        for answer in answers:
            try:
                await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            for piece in answer if isinstance(answer, list) else [answer]:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    links = Links("127.0.0.1", port, secure=False, connect=5, silence=options.pop("silence", 5))

    def ask(method="GET", decoded=False):
        request = f"{method} / HTTP/1.1\r\nHost: h\r\n\r\n".encode()
        return Asked(links, method, request, decoded=decoded, waited=lambda seconds: None)

    async with server:
        result = await main(ask)
        links.close()
        for writer in connections:
            writer.transport.abort()
        await asyncio.sleep(0.01)
    return result, len(connections)


def _run(answers, main, **options):
    return asyncio.run(_serve(answers, main, **options))


async def _read(ask, *, method="GET", decoded=False):
    async with ask(method, decoded) as reply:
        return reply.status, await reply.read()


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "body", "kept"),
    [
        (HEAD + b"Content-Length: 2\r\n\r\nhi", b"hi", True),
        (HEAD + b"Content-Length: 0\r\n\r\n", b"", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n", b"hi!", True),
        (HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nhi", b"hi", True),
        (
            b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 1\r\n\r\nx",
            b"x",
            True,
        ),
    ],
)
def test_a_response_is_read_and_its_connection_kept_where_it_may_be(answer, body, kept):
    """Length, chunks, interim heads; a second request tells whether the connection was kept."""

    async def main(ask):
        return [await _read(ask) for _ in range(2)]

    assert _run([answer, answer], main) == ([(200, body)] * 2, 1 if kept else 2)


def test_a_body_without_a_length_lasts_until_the_connection_ends():
    """As of old servers: complete when they close."""

    async def main(ask):
        return await _read(ask)

    assert _run([HEAD + b"\r\nall of it"], main) == ((200, b"all of it"), 1)


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_a_body_has_none(status):
    """No length, and nothing is waited for."""

    async def main(ask):
        return [await _read(ask) for _ in range(2)]

    answer = b"HTTP/1.1 %d X\r\n\r\n" % status
    assert _run([answer, answer], main) == ([(status, b"")] * 2, 1)


def test_the_answer_to_head_has_a_length_and_no_body():
    """The length is told, nothing is waited for, the connection is not used again."""

    async def main(ask):
        async with ask("HEAD") as reply:
            return reply.content_length, await reply.read()

    assert _run([HEAD + b"Content-Length: 12\r\n\r\n"], main) == ((12, b""), 1)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8), st.integers(1, 40))
@settings(max_examples=25)
def test_how_the_bytes_are_cut_changes_nothing(pieces, width):
    """A chunked body in packets of any size is the same body."""
    text = HEAD + b"Transfer-Encoding: chunked\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"
    text += b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"

    async def main(ask):
        async with ask() as reply:
            return reply.headers.getall("set-cookie"), await reply.read()

    packets = [text[i : i + width] for i in range(0, len(text), width)]
    assert _run([packets], main)[0] == (["a", "b"], b"".join(pieces))


@pytest.mark.parametrize("width", [7, 1000])
def test_a_compressed_body_is_decoded_where_that_is_asked_for(width):
    """Gzip in any packets; as it came where it only passes."""
    coder = zlib.compressobj(wbits=31)
    zipped = coder.compress(b"hi " * 500) + coder.flush()
    text = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(zipped) + zipped
    packets = [text[i : i + width] for i in range(0, len(text), width)]

    async def main(ask):
        return [(await _read(ask, decoded=decoded))[1] for decoded in (False, True)]

    assert _run([packets, packets], main)[0] == [zipped, b"hi " * 500]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        HEAD + b"Content-Length: 20\r\n\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhal",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\x00\x01",
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
        HEAD + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nhi",
    ],
)
def test_whatever_is_no_whole_response_is_broken(answer):
    """Half a head, half a body, two lengths, another protocol, a false or unknown encoding."""

    async def main(ask):
        with pytest.raises(Broken):
            await _read(ask, decoded=True)

    _run([answer], main)


def test_bytes_that_nobody_asked_for_end_a_connection():
    """A second response to one request never becomes the answer to the next one."""

    async def main(ask):
        first = await _read(ask)
        await asyncio.sleep(0.01)
        return first, await _read(ask)

    stray = HEAD + b"Content-Length: 5\r\n\r\nstray"
    good = HEAD + b"Content-Length: 2\r\n\r\nhi"
    result, connections = _run([[good, stray]], main)
    assert result == ((200, b"hi"), (200, b"hi"))
    assert connections == 2
    result, connections = _run([good + stray], main)
    assert result == ((200, b"hi"), (200, b"hi"))
    assert connections == 2


def test_a_request_that_is_given_up_takes_its_connection_along():
    """The rest of its response cannot reach the next request."""

    async def main(ask):
        with pytest.raises(asyncio.TimeoutError):
            async with asyncio.timeout(0.05):
                await _read(ask)
        return await _read(ask)

    half = HEAD + b"Content-Length: 4\r\n\r\nha"
    asked = iter([[half], [HEAD + b"Content-Length: 2\r\n\r\nhi"]])

    class Answers(list):
        """One list of answers per connection."""

        def __iter__(self):
            return iter([*next(asked), []])

    assert _run(Answers(), main) == ((200, b"hi"), 2)


@pytest.mark.parametrize("size", [10, 1 << 18, 3_000_000])
def test_a_body_of_any_size_arrives_whole(size):
    """Small ones leave with their head, large ones behind it."""
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    async def echo(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        got = await reader.readexactly(size)
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % size + got)
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        links = Links("127.0.0.1", port, secure=False, connect=5, silence=5)
        asked = Asked(
            links, "POST", b"POST / HTTP/1.1\r\n\r\n", body, decoded=False, waited=lambda s: None
        )
        async with server, asked as reply:
            answer = await reply.read()
        links.close()
        await asyncio.sleep(0.01)
        return answer

    assert asyncio.run(main()) == body


def test_silence_is_a_timeout():
    """Nothing comes for long: before the head, and in the middle of a body."""
    half = HEAD + b"Content-Length: 4\r\n\r\nha"

    async def main(ask):
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await _read(ask)

    asyncio.run(_serve([half, b""], main, silence=0.05))


def test_nobody_listening_is_unreachable():
    """A refused connection is told apart from one that breaks."""

    async def main():
        links = Links("127.0.0.1", 9, secure=False, connect=5, silence=5)
        with pytest.raises(Unreachable):
            async with Asked(links, "GET", b"", decoded=False, waited=lambda seconds: None):
                pass

    asyncio.run(main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for localhost that nobody has signed, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
            "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost",
        ],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / "cert.pem", folder / "key.pem"


@pytest.mark.parametrize(
    ("host", "trusted", "reached"),
    [("localhost", True, True), ("localhost", False, False), ("127.0.0.1", True, False)],
    ids=["trusted", "unknown", "other-name"],
)
def test_tls_is_spoken_and_certificates_are_checked(
    certificate, monkeypatch, host, trusted, reached
):
    """A key goes only to who can prove the upstream's name."""
    cert, key = certificate
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(cert, key)
    got = []

    async def handle(reader, writer):
        try:
            got.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(HEAD + b"Content-Length: 2\r\n\r\nhi")
            await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    async def main():
        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=server_side)
        port = server.sockets[0].getsockname()[1]
        links = Links(host, port, secure=True, connect=5, silence=5)
        request = b"GET / HTTP/1.1\r\nAuthorization: Bearer sk-1\r\n\r\n"
        async with server:
            try:
                asked = Asked(links, "GET", request, decoded=False, waited=lambda seconds: None)
                async with asked as reply:
                    return await reply.read()
            except Unreachable:
                return None
            finally:
                links.close()
                await asyncio.sleep(0.05)

    assert asyncio.run(main()) == (b"hi" if reached else None)
    assert len(got) == reached
