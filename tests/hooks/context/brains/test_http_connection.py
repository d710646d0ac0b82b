"""TLS, proxies, names that never resolve: each ends in time, and the token goes nowhere else."""

from __future__ import annotations

import socket
import subprocess
import threading
import time

import pytest

from hooks.context.brains.http_address import parse
from hooks.context.brains.http_connection import Connection, Deadline
from hooks.errors import BrainUnreachable
from tests.support.brain_server import BrainServer

NO_NAMES = ["-subj", "/CN=brain", "-addext", "subjectAltName=IP:127.0.0.1"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A key and its own certificate for 127.0.0.1, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *NO_NAMES]
    subprocess.run(
        [*command, "-keyout", key, "-out", cert], check=True, capture_output=True, cwd=folder
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both, cert


@pytest.fixture
def secure(tmp_path, certificate):
    with BrainServer(tmp_path / "secure", tls=str(certificate[0])) as found:
        yield found


def ask(url, **named):
    link = Connection(parse(url), **{"timeout_s": 2, **named})
    try:
        return link.ask("GET", "/health", {})
    finally:
        link.close()


def test_a_given_authority_is_trusted(secure, certificate):
    assert ask(secure.url, ca=str(certificate[1])).status == 200


def test_without_it_the_certificate_is_refused_by_name(secure):
    with pytest.raises(BrainUnreachable, match="certificate is not trusted"):
        ask(secure.url)


def test_a_certificate_for_another_name_is_refused(secure, certificate):
    with pytest.raises(BrainUnreachable, match="certificate is not trusted"):
        ask(secure.url.replace("127.0.0.1", "localhost"), ca=str(certificate[1]))


@pytest.mark.parametrize("name", ["none.pem", "empty.pem"])
def test_an_authority_that_cannot_be_read_is_told(secure, tmp_path, name):
    (tmp_path / "empty.pem").write_bytes(b"")
    with pytest.raises(BrainUnreachable, match="BRAIN_HTTP_CA"):
        ask(secure.url, ca=str(tmp_path / name))


def test_tls_to_a_service_that_speaks_none_ends(tmp_path):
    with (
        BrainServer(tmp_path / "plain") as plain,
        pytest.raises(BrainUnreachable, match=r"TLS failed|no answer"),
    ):
        ask(plain.url.replace("http:", "https:"))


class Listener:
    """A port whose connections are answered by ``serve`` in a thread, or by nobody."""

    def __init__(self, serve=None):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        if serve is not None:
            threading.Thread(target=self._run, args=(serve,), daemon=True).start()

    def _run(self, serve):
        link, _ = self._socket.accept()
        with link:
            serve(link)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._socket.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_port_that_accepts_and_never_says_a_word_ends_in_time(scheme):
    with Listener() as silent:
        began = time.monotonic()
        with pytest.raises(BrainUnreachable, match=r"within 0.3 s"):
            ask(f"{scheme}://127.0.0.1:{silent.port}", timeout_s=0.3)
        assert time.monotonic() - began < 2


def test_a_resolver_that_never_answers_ends_in_time(monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **named: released.wait())
    began = time.monotonic()
    with pytest.raises(BrainUnreachable, match="no answer within"):
        ask("http://brain.example", timeout_s=0.3)
    assert time.monotonic() - began < 2
    released.set()


def pump(one, other):
    try:
        while data := one.recv(65_536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:  # one of the two has closed both ways
        return


def test_https_goes_through_a_proxy_in_a_tunnel_that_sees_no_token(secure, certificate):
    seen = []

    def tunnel(client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        seen.append(head)
        with socket.create_connection(("127.0.0.1", secure.port)) as service:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=pump, args=(service, client), daemon=True).start()
            pump(client, service)

    with Listener(tunnel) as proxy:
        url = f"http://ann:pass%20word@127.0.0.1:{proxy.port}"
        link = Connection(parse(secure.url), timeout_s=2, ca=str(certificate[1]), proxy=url)
        answer = link.ask("GET", "/feed", {"Authorization": f"Bearer {secure.token}"})
        link.close()
    assert answer.status == 200
    assert seen[0].startswith(f"CONNECT 127.0.0.1:{secure.port} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic YW5uOnBhc3Mgd29yZA==" in seen[0]
    assert secure.token.encode() not in seen[0]


def test_a_proxy_that_says_no_is_told_without_its_password(secure):
    with Listener(lambda client: client.sendall(b"HTTP/1.1 407 No\r\n\r\n")) as proxy:
        with pytest.raises(BrainUnreachable, match="407") as raised:
            ask(secure.url, proxy=f"http://ann:pass@127.0.0.1:{proxy.port}")
        assert "pass" not in str(raised.value)


@pytest.mark.parametrize("proxy", ["https://p.example", "socks5://p.example", "http://"])
def test_a_proxy_that_cannot_be_used_is_told(secure, proxy):
    with pytest.raises(BrainUnreachable, match="proxy"):
        ask(secure.url, proxy=proxy)


def test_a_deadline_is_over_when_its_time_is():
    now = [0.0]
    deadline = Deadline(3, clock=lambda: now[0])
    now[0] = 2.5
    assert deadline.left() == 0.5
    now[0] = 3.0
    with pytest.raises(TimeoutError):
        deadline.left()
