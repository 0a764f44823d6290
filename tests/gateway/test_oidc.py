"""Users of the house's identity provider: tokens of a local issuer, and all that is none."""

from __future__ import annotations

import base64
import hmac
import json
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import psycopg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.live import Live, add_user, live, revoke
from tacit.errors import EngineError, ParameterError
from tacit.gateway.oidc import IdentityProvider
from tacit.gateway.options import Options

AUDIENCE = "tacit"
PLAN = """\
version: 1
tables:
  stays:
    columns: {name: text, ward: text, doctor: text}
    nullable: []
    rows: [[Alan, A, d7], [Bob, B, d8]]
  wards: {columns: {ward: text, beds: integer}, key: [ward], nullable: [], rows: [[A, 10], [B, 20]]}
releases:
  mine: {query: "SELECT * FROM stays WHERE doctor = $user.number"}
roles:
  nurses: {default: deny, allow: [wards]}
  doctors: {default: deny, allow: [mine]}
"""


def public(key: Any, **more: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else EC
    return {**kind.to_jwk(key.public_key(), as_dict=True), **more}


EC = jwt.algorithms.ECAlgorithm


class Issuer:
    """An identity provider on this machine. `keys` are those that it shows."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(65537, 2048)
        self.curve = ec.generate_private_key(ec.SECP256R1())
        self.keys = [public(self.key, kid="one"), public(self.curve, kid="two", use="sig")]
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                found: Any = {"keys": outer.keys}
                if self.path == "/.well-known/openid-configuration":
                    found = {"issuer": outer.url, "jwks_uri": f"{outer.url}/keys"}
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", "/keys")
                    self.end_headers()
                    return
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            def log_message(self, *given: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def claims(self, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": "nora", "exp": now + 300, "iat": now}
        found = {**said, "realm_access": {"roles": ["nurses", "doctors", "admins"]}, **more}
        return {name: value for name, value in found.items() if value is not None}

    def token(
        self, key: Any = None, algorithm: str = "RS256", kid: Any = "one", **more: Any
    ) -> str:
        headers = {} if kid is None else {"kid": kid}
        return jwt.encode(self.claims(**more), key or self.key, algorithm, headers)


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


def options(issuer: Issuer, **more: Any) -> dict[str, Any]:
    return {
        "oidc_issuer": issuer.url,
        "oidc_audience": AUDIENCE,
        "oidc_roles": "realm_access.roles",
        "oidc_attributes": "number=employee.number",
        **more,
    }


@pytest.fixture
def provider(issuer: Issuer) -> IdentityProvider:
    return IdentityProvider(Options(**options(issuer)))


@pytest.fixture(scope="module")
def door(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("oidc"), PLAN, **options(issuer)) as running:
        yield running


def status(
    door: Live, token: str, sql: str = "SELECT ward FROM wards", role: str = "nurses"
) -> int:
    with door.client(token=token) as client:
        return client.post("/query", json={"sql": sql, "role": role}).status_code


def test_claims_become_roles_and_attributes(issuer: Issuer, door: Live) -> None:
    token = issuer.token(employee={"number": "d7"})
    with door.client(token=token) as client:
        assert set(client.get("/me").json()["roles"]) == {"nurses", "doctors"}
        body = {"sql": "SELECT name FROM stays WHERE doctor = 'd7'", "role": "doctors"}
        assert client.post("/query", json=body).json()["rows"] == [["Alan"]]
        body["sql"] = "SELECT name FROM stays WHERE doctor = 'd8'"
        assert client.post("/query", json=body).status_code == 403
    assert status(door, token) == 200
    assert status(door, issuer.token(issuer.curve, "ES256", "two")) == 200
    assert status(door, issuer.token(realm_access={"roles": ["doctors"]})) == 403
    assert status(door, issuer.token(realm_access=None)) == 403
    assert status(door, issuer.token(), "SELECT name FROM stays", "doctors") == 403  # no attribute
    assert '"user": "nora"' in door.audit() and token not in door.audit()


def test_the_owners_own_tokens_are_taken_still(door: Live) -> None:
    assert status(door, door.token) == 200


def encoded(part: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def unsigned(issuer: Issuer, algorithm: str) -> str:
    return f"{encoded({'alg': algorithm, 'kid': 'one'})}.{encoded(issuer.claims())}."


def signed_with_the_public_key(issuer: Issuer, form: Any) -> str:
    """The old confusion: a public key taken for a shared secret."""
    secret = issuer.key.public_key().public_bytes(
        form, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    said = f"{encoded({'alg': 'HS256', 'kid': 'one'})}.{encoded(issuer.claims())}".encode()
    mac = base64.urlsafe_b64encode(hmac.digest(secret, said, "sha256")).rstrip(b"=")
    return (said + b"." + mac).decode()


def with_header(issuer: Issuer, **more: Any) -> str:
    other = rsa.generate_private_key(65537, 2048)
    return jwt.encode(issuer.claims(), other, "RS256", {"kid": "one", **more})


FORGED = {
    "none": lambda issuer: unsigned(issuer, "none"),
    "None": lambda issuer: unsigned(issuer, "None"),
    "no signature": lambda issuer: issuer.token().rpartition(".")[0] + ".",
    "hmac by pem": lambda one: signed_with_the_public_key(one, serialization.Encoding.PEM),
    "hmac by der": lambda one: signed_with_the_public_key(one, serialization.Encoding.DER),
    "other key": lambda issuer: with_header(issuer),
    "key in the header": lambda issuer: with_header(
        issuer, jwk=public(rsa.generate_private_key(65537, 2048))
    ),
    "keys elsewhere": lambda issuer: with_header(issuer, jku="http://127.0.0.1:1/keys"),
    "critical": lambda one: jwt.encode(
        one.claims(), one.key, "RS256", {"kid": "one", "crit": ["x"], "x": 1}
    ),
    "wrong audience": lambda issuer: issuer.token(aud="other"),
    "no audience": lambda issuer: issuer.token(aud=None),
    "wrong issuer": lambda issuer: issuer.token(iss="https://evil.example"),
    "no issuer": lambda issuer: issuer.token(iss=None),
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - 60),
    "never expires": lambda issuer: issuer.token(exp=None),
    "expires in words": lambda issuer: tampered(issuer, exp="never"),
    "not yet": lambda issuer: issuer.token(nbf=int(time.time()) + 600),
    "no name": lambda issuer: issuer.token(sub=None),
    "empty name": lambda issuer: issuer.token(sub=""),
    "odd name": lambda issuer: issuer.token(sub="nora\x00"),
    "another's claims": lambda issuer: tampered(issuer, sub="olga"),
    "unknown key": lambda issuer: issuer.token(kid="three"),
    "no key named of two that fit": lambda issuer: issuer.token(issuer.curve, "ES256", "one"),
    "too long": lambda issuer: issuer.token(more="x" * 10_000),
}


def tampered(issuer: Issuer, **more: Any) -> str:
    head, _, sign = issuer.token().split(".")
    return f"{head}.{encoded(issuer.claims(**more))}.{sign}"


@pytest.mark.parametrize("name", FORGED)
def test_what_the_issuer_did_not_sign_for_us_now_opens_nothing(
    issuer: Issuer, door: Live, provider: IdentityProvider, name: str
) -> None:
    token = FORGED[name](issuer)
    assert provider.user(token) is None
    assert status(door, token) == 401


def test_random_bytes_are_no_tokens(provider: IdentityProvider, issuer: Issuer) -> None:
    token = issuer.token()
    for at in range(0, len(token), 7):
        swapped = "A" if token[at] != "A" else "B"
        found = provider.user(token[:at] + swapped + token[at + 1 :])
        assert found is None or (at >= len(token) - 2 and found.name == "nora")
        assert provider.user(token[:at]) is None
    for odd in ("..", "a.b.c", "é.é.é", "x" * 9_000 + "..", f"{encoded([])}.{encoded([])}."):
        assert provider.user(odd) is None


def test_nobody_comes_in_by_the_name_of_a_user_of_the_owner(issuer: Issuer, door: Live) -> None:
    for name in ("ann", "ANN"):
        assert status(door, issuer.token(sub=name)) == 401
    add_user(door.plan, "otto", ["nurses"])
    revoke(door.plan, "otto")
    assert status(door, issuer.token(sub="otto")) == 401
    assert status(door, issuer.token(sub="otto2")) == 200


def test_a_token_that_was_good_is_not_after_its_time(
    provider: IdentityProvider, issuer: Issuer
) -> None:
    token = issuer.token(exp=int(time.time()) - 29)  # within the leeway, for a second or two
    first = provider.user(token)
    assert first is None or not first.expired()
    until = time.time() + 5
    while provider.user(token) is not None:
        assert time.time() < until


def test_keys_are_changed_without_a_restart_and_not_fetched_for_everybody() -> None:
    issuer, clock = Issuer(), [0.0]
    try:
        provider = IdentityProvider(Options(**options(issuer)), clock=lambda: clock[0])
        assert provider.user(issuer.token()) is not None
        asked = issuer.asked
        for _ in range(50):
            assert provider.user(issuer.token(kid="unknown")) is None
        assert issuer.asked == asked
        old = issuer.token()
        issuer.key = rsa.generate_private_key(65537, 2048)
        issuer.keys = [public(issuer.key, kid="three")]
        clock[0] += 31
        assert provider.user(issuer.token(kid="three")) is not None
        clock[0] += 61
        assert provider.user(old) is None
    finally:
        issuer.close()
    clock[0] += 10_000
    assert provider.user(issuer.token(kid="three")) is not None  # what was read last stays


@pytest.mark.parametrize("keys", ["no-such-file", "http://id.example/keys", "/moved"])
def test_keys_that_cannot_be_read_are_told_and_open_nothing(
    issuer: Issuer, tmp_path: Path, keys: str
) -> None:
    said: list[str] = []
    place = f"{issuer.url}{keys}" if keys == "/moved" else keys
    provider = IdentityProvider(Options(**options(issuer, oidc_keys=place)), said.append)
    for _ in range(3):
        with pytest.raises(EngineError, match="cannot be read"):
            provider.user(issuer.token())
    assert len(said) == 1


def test_keys_may_lie_in_a_file(issuer: Issuer, tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text(json.dumps({"keys": issuer.keys}))
    chosen = Options(**options(issuer, oidc_keys=str(tmp_path / "keys.json")))
    assert IdentityProvider(chosen).user(issuer.token()) is not None
    private = jwt.algorithms.RSAAlgorithm.to_jwk(issuer.key, as_dict=True)
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "one"}
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [secret, {**private, "use": "enc"}]}))
    assert IdentityProvider(chosen).user(issuer.token()) is None


def test_an_issuer_without_an_audience_is_refused(issuer: Issuer) -> None:
    with pytest.raises(ParameterError, match="not said"):
        Options(oidc_issuer=issuer.url)


def test_postgres_clients_send_such_a_token_inside_tls_only(issuer: Issuer, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl: apt install openssl")
    from gateway.postgres.test_tls import certificate

    more = {"postgres_port": 0, **options(issuer), **certificate(tmp_path)}
    with live(tmp_path, PLAN, **more) as running:
        where = running.postgres("nurses", "nora", issuer.token(), sslmode="require")
        with psycopg.connect(where) as line:
            assert line.execute("SELECT beds FROM wards ORDER BY beds").fetchall() == [(10,), (20,)]
        for user, token in (
            ("olga", issuer.token()),
            ("ann", issuer.token(sub="ann")),
            ("nora", running.token),
            ("nora", unsigned(issuer, "none")),
        ):
            with pytest.raises(psycopg.OperationalError, match="valid token"):
                psycopg.connect(running.postgres("nurses", user, token, sslmode="require"))
    (tmp_path / "plain").mkdir()
    with (
        live(tmp_path / "plain", PLAN, postgres_port=0, **options(issuer)) as plain,
        pytest.raises(psycopg.OperationalError),
    ):
        psycopg.connect(plain.postgres("nurses", "nora", issuer.token()))
