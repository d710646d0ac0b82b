"""The self-test's service lives for a minute on loopback: no page and no other program reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.client import HTTPConnection

import pytest

from tests.support.run_hook import ROOT

TOKEN = "t0ken-of-the-test"


@pytest.fixture
def port(tmp_path):
    command = [sys.executable, "-I", str(ROOT / "scripts" / "selftest" / "service.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        config = {"folder": str(tmp_path), "port": 0, "token": TOKEN}
        process.stdin.write(json.dumps(config).encode() + b"\n")
        process.stdin.flush()
        yield int(process.stdout.readline())


def ask(port, method, path, **headers):
    link = HTTPConnection("127.0.0.1", port, timeout=10)
    body = json.dumps({"type": "lesson", "content": "planted", "attrs": {}})
    link.request(method, path, body if method == "POST" else None, headers)
    answer = link.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    link.close()
    return found


@pytest.mark.parametrize(("method", "path"), [("GET", "/feed"), ("POST", "/marker")])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://page.example"},
        {"Host": "rebound.example", "Origin": "http://rebound.example"},
        {"Authorization": "Bearer another"},
    ],
    ids=["no token", "a page", "a rebound name", "another token"],
)
def test_without_the_token_nothing_is_read_or_planted(port, method, path, headers):
    status, answered, data = ask(port, method, path, **headers)
    assert status == 401
    assert not any(name.lower().startswith("access-control") for name in answered)
    assert b"planted" not in data
    assert b"planted" not in ask(port, "GET", "/feed", Authorization=f"Bearer {TOKEN}")[2]


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="there is no /proc")
def test_it_listens_on_loopback_alone(port):
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    places = {row[1] for row in rows if row[3] == "0A"}  # listening
    assert f"0100007F:{port:04X}" in places
    assert f"00000000:{port:04X}" not in places
