"""Where a service is, who is a proxy for it, and which redirects stay with it."""

from __future__ import annotations

import pytest

from hooks.context.brains.http_address import Address, parse, proxy_for, redirected

HERE = Address("https", "brain.example", 443, "/api")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://brain.example", ("http", "brain.example", 80, "")),
        ("HTTPS://Brain.Example/api/", ("https", "brain.example", 443, "/api")),
        ("http://127.0.0.1:8080/a/b", ("http", "127.0.0.1", 8080, "/a/b")),
        ("http://[::1]:9/x", ("http", "::1", 9, "/x")),
        ("https://ann:pass@brain.example/x?key=1#top", ("https", "brain.example", 443, "/x")),
    ],
)
def test_an_address_is_taken_apart_and_nothing_secret_stays(url, address):
    assert parse(url) == address


@pytest.mark.parametrize(
    ("address", "header"),
    [
        (HERE, "brain.example"),
        (HERE._replace(port=8443), "brain.example:8443"),
        (HERE._replace(host="::1", port=9), "[::1]:9"),
    ],
)
def test_the_host_header_names_a_port_only_where_it_is_not_the_schemes(address, header):
    assert address.host_header == header


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("localhost.", True),
        ("brain.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("127.0.0.1.example", False),
        ("127.example", False),
        ("localhost.example", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback_is_told_by_the_name_alone(host, is_loopback):
    assert HERE._replace(host=host).is_loopback is is_loopback


PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}


@pytest.mark.parametrize(
    ("address", "env", "proxy"),
    [
        pytest.param(HERE, PROXY, "http://proxy.example:3128", id="https goes through it"),
        pytest.param(HERE, {"ALL_PROXY": "http://p:1"}, "http://p:1", id="all"),
        pytest.param(HERE, {"HTTP_PROXY": "http://p:1"}, "", id="that one is for http"),
        pytest.param(HERE._replace(scheme="http"), PROXY, "", id="plain http never"),
        pytest.param(HERE._replace(host="localhost"), PROXY, "", id="loopback never"),
        pytest.param(HERE, {**PROXY, "NO_PROXY": "brain.example"}, "", id="excepted"),
        pytest.param(HERE, {**PROXY, "no_proxy": "a, .example"}, "", id="excepted by domain"),
        pytest.param(HERE, {**PROXY, "NO_PROXY": "*"}, "", id="all excepted"),
        pytest.param(HERE, {**PROXY, "NO_PROXY": "brain.example:443"}, "", id="with its port"),
        pytest.param(
            HERE, {**PROXY, "NO_PROXY": "brain.example:80"}, PROXY["HTTPS_PROXY"], id="another port"
        ),
        pytest.param(
            HERE, {**PROXY, "NO_PROXY": "rain.example"}, PROXY["HTTPS_PROXY"], id="only its end"
        ),
    ],
)
def test_a_proxy_is_only_for_https_to_elsewhere(address, env, proxy):
    assert proxy_for(address, env) == proxy


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/feed/", "/feed/"),
        ("https://brain.example/feed/?a=1", "/feed/?a=1"),
        ("https://BRAIN.example:443/feed", "/feed"),
        ("https://brain.example", "/"),
        ("http://brain.example/feed", None),
        ("https://brain.example:8443/feed", None),
        ("https://brain.example.evil.example/feed", None),
        ("https://brain.example@evil.example/feed", None),
        ("https://ann@brain.example/feed", None),
        ("//evil.example/feed", None),
        ("feed", None),
        ("", None),
        ("/feed\r\nX-A: b", None),
        ("/fe ed", None),
        ("javascript:alert(1)", None),
    ],
)
def test_a_redirect_stays_at_the_very_origin_or_is_none(location, path):
    assert redirected(HERE, location) == path
