"""The description of the HTTP interface: OpenAPI for programs, and one page of HTML that loads
nothing for people.
"""

from __future__ import annotations

from html import escape
from typing import Any

from tacit.gateway.http.formats import ARROW, CSV, JSON
from tacit.gateway.http.requests import DIALECTS, MOST_LETTERS, MOST_NAME, MOST_PARAMETERS
from tacit.gateway.policy.refusals import SECURITY, Headers

PAGE_HEADERS: Headers = [
    (b"content-type", b"text/html; charset=utf-8"),
    (
        b"content-security-policy",
        (
            b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action "
            b"'none'; frame-ancestors 'none'"
        ),
    ),
    *SECURITY,
]
TEXT: dict[str, Any] = {"type": "string"}
MAYBE: dict[str, Any] = {"type": ["string", "null"]}
VALUE: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
ROLES = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["default", "deny", "allow"],
        "properties": {
            "default": {"enum": ["deny", "allow"]},
            "deny": {"type": "array", "items": TEXT},
            "allow": {"type": "array", "items": TEXT},
        },
    },
}
ASKED = {
    "type": "object",
    "required": ["sql"],
    "additionalProperties": False,
    "properties": {
        "sql": {
            "type": "string",
            "minLength": 1,
            "maxLength": MOST_LETTERS,
            "description": "One SELECT over the plan's tables and views.",
        },
        "role": {
            "type": ["string", "null"],
            "minLength": 1,
            "maxLength": MOST_NAME,
            "description": "The role to ask in; needed by users who have several.",
        },
        "parameters": {
            "description": "Values for ? or $1 (a list), or for $name (an object).",
            "anyOf": [
                {"type": "array", "items": VALUE, "maxItems": MOST_PARAMETERS},
                {"type": "object", "additionalProperties": VALUE, "maxProperties": MOST_PARAMETERS},
                {"type": "null"},
            ],
        },
        "limit": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": 2**63 - 1,
            "description": "The most rows wanted; the gateway has a limit of its own.",
        },
        "session": {
            "type": ["string", "null"],
            "description": "A name of the client's choice: answers of the same session count.",
        },
        "dialect": {
            "enum": [*DIALECTS, None],
            "description": "How the query is spelled, where not as the source does.",
        },
    },
}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint", "secret"],
            "properties": {"code": TEXT, "message": TEXT, "hint": MAYBE, "secret": MAYBE},
        }
    },
}
DECISION = {
    "type": "object",
    "required": [
        "allowed",
        "code",
        "message",
        "hint",
        "secret",
        "columns",
        "role",
        "cached",
        "milliseconds",
    ],
    "properties": {
        "allowed": {"type": "boolean"},
        "code": TEXT,
        "message": TEXT,
        "hint": MAYBE,
        "secret": MAYBE,
        "columns": {"type": "array", "items": TEXT},
        "role": TEXT,
        "cached": {"type": "boolean"},
        "milliseconds": {"type": "number"},
    },
}
ROWS = {
    "type": "object",
    "required": ["columns", "rows", "truncated"],
    "properties": {
        "columns": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "type"],
                "properties": {"name": TEXT, "type": TEXT},
            },
        },
        "rows": {"type": "array", "items": {"type": "array", "items": VALUE}},
        "truncated": {"type": "boolean"},
    },
}
WHY = {
    400: (
        "The request or the query is wrong: not SQL that is read, an unknown table, "
        "parameters that do not fit, a role that has to be named, or the database's own error "
        "for a query that is allowed."
    ),
    401: "No valid token.",
    403: (
        "The role must not have this answer (code discloses, undecided, may-fail or "
        "not-granted; secret names what forbids it), or the user does not have this role."
    ),
    406: "None of the accepted media types.",
    408: "The body did not come in time.",
    413: "The body or the query is too long.",
    429: "The user has had their share; Retry-After says when to ask again.",
    431: "Too many headers.",
    500: "A fault of the gateway; tell the owner its number.",
    503: (
        "Not now: all places are taken, or plan, users, audit log or database cannot be used. "
        "Retry-After says when to ask again."
    ),
    504: "The database did not answer in time; the query was stopped.",
}


def openapi(version: str) -> dict[str, Any]:
    """The interface in OpenAPI 3.1."""
    body = {"required": True, "content": {JSON: {"schema": {"$ref": "#/components/schemas/Query"}}}}
    rows = {
        JSON: {"schema": {"$ref": "#/components/schemas/Rows"}},
        CSV: {"schema": TEXT},
        ARROW: {"schema": {"type": "string", "format": "binary"}},
    }
    limits = {
        "X-Tacit-Row-Limit": {
            "schema": {"type": "integer"},
            "description": "The most rows of this answer.",
        },
        "X-Tacit-Truncated": {
            "schema": {"enum": ["true", "false"]},
            "description": "Whether rows were left out, where that is known before the first.",
        },
    }
    asking = (400, 401, 403, 408, 413, 429, 431, 500, 503)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tacit gateway",
            "version": version or "0",
            "description": (
                "Answers the queries that say nothing about what the user's role must not "
                "know, and refuses the others."
            ),
        },
        "paths": {
            "/query": {
                "post": {
                    "operationId": "query",
                    "summary": "Run a query",
                    "security": [{"token": []}],
                    "requestBody": body,
                    "description": (
                        "The rows of a query that the role may have, streamed as JSON, CSV or "
                        "Arrow by the Accept header."
                    ),
                    "responses": {
                        "200": {"description": "The answer.", "headers": limits, "content": rows},
                        **errors(*asking, 406, 504),
                    },
                }
            },
            "/check": {
                "post": {
                    "operationId": "check",
                    "summary": "Ask whether a query would be answered",
                    "security": [{"token": []}],
                    "requestBody": body,
                    "description": (
                        "The decision. Nothing is run, and the decision does not depend on rows."
                    ),
                    "responses": {"200": answer("The decision.", "Decision"), **errors(*asking)},
                }
            },
            "/me": {
                "get": {
                    "operationId": "me",
                    "summary": "Who am I?",
                    "security": [{"token": []}],
                    "responses": {
                        "200": answer("Name and roles.", "Me"),
                        **errors(401, 431, 500, 503),
                    },
                }
            },
            "/health": {
                "get": {
                    "operationId": "health",
                    "summary": "Is the gateway there?",
                    "responses": {"200": answer("It is.", "Health"), **errors(431, 500)},
                }
            },
            "/ready": {
                "get": {
                    "operationId": "ready",
                    "summary": "Can the gateway answer now?",
                    "description": "Plan, audit log, ledger, deciding processes, database.",
                    "responses": {
                        "200": answer("It can.", "Readiness"),
                        "503": answer("Something is not ready: `parts` says what.", "Readiness"),
                        **errors(431, 500),
                    },
                }
            },
            "/metrics": {
                "get": {
                    "operationId": "metrics",
                    "summary": "Numbers for Prometheus",
                    "description": "From this machine only, or with a token of its own.",
                    "responses": {
                        "200": {
                            "description": "Prometheus text.",
                            "content": {"text/plain": {"schema": TEXT}},
                        },
                        **errors(401, 431, 500),
                    },
                }
            },
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that `tacit user add` showed.",
                }
            },
            "schemas": {
                "Query": ASKED,
                "Rows": ROWS,
                "Decision": DECISION,
                "Error": ERROR,
                "Me": {
                    "type": "object",
                    "required": ["user", "roles"],
                    "properties": {"user": TEXT, "roles": ROLES},
                },
                "Readiness": {
                    "type": "object",
                    "required": ["ready", "parts"],
                    "properties": {
                        "ready": {"type": "boolean"},
                        "parts": {
                            "type": "object",
                            "additionalProperties": {"type": "boolean"},
                        },
                    },
                },
                "Health": {
                    "type": "object",
                    "required": ["status", "version"],
                    "properties": {"status": {"const": "ok"}, "version": TEXT},
                },
            },
        },
    }


def answer(text: str, schema: str) -> dict[str, Any]:
    """A response with a JSON body."""
    return {
        "description": text,
        "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


def errors(*statuses: int) -> dict[str, Any]:
    """The responses for requests that are not answered."""
    return {str(status): answer(WHY[status], "Error") for status in sorted(statuses)}


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
code, pre { font: 14px/1.4 ui-monospace, monospace; background: #f3f3f0; border-radius: 4px } code { padding: 0 .25em } pre { padding: .75rem; overflow: auto }
h2 { border-top: 1px solid #ddd; padding-top: 1rem } table { border-collapse: collapse } td { vertical-align: top; padding: .2rem .8rem .2rem 0 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } code, pre { background: #2b2b2b } h2 { border-color: #444 } }
"""  # noqa: E501
EXAMPLE = """curl -H "Authorization: Bearer $TOKEN" \\
     -H "Content-Type: application/json" \\
     -d '{"sql": "SELECT ward, COUNT(*) FROM stays GROUP BY ward"}' \\
     {url}/query"""


def page(described: dict[str, Any]) -> str:
    """The interface for people: one page without scripts, fonts or images, from nowhere else."""
    parts = [
        section(path, method, one)
        for path, methods in described["paths"].items()
        for method, one in methods.items()
    ]
    info = described["info"]
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width'>"
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style><h1>{escape(info['title'])}"
        f"</h1><p>{escape(info['description'])}</p>"
        "<p>For programs: <a href='openapi.json'>openapi.json</a>. Every request but the last two "
        "needs a token.</p>"
        f"<pre>{escape(EXAMPLE.replace('{url}', 'http://127.0.0.1:8321'))}</pre>{''.join(parts)}"
        "</html>"
    )


def section(path: str, method: str, one: dict[str, Any]) -> str:
    """What the page says of one path."""
    words = " ".join(
        text if text[-1] in ".?" else f"{text}."
        for text in (one["summary"], one.get("description", ""))
        if text
    )
    said = [f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(words)}</p>"]
    if "requestBody" in one:
        fields = ASKED["properties"]
        assert isinstance(fields, dict)
        lines = (
            f"<tr><td><code>{name}</code><td>{escape(field['description'])}"
            for name, field in fields.items()
        )
        said.append(f"<table>{''.join(lines)}</table>")
    lines = (
        (
            f"<tr><td><code>{status}</code><td>{escape(found['description'])} "
            f"{escape(', '.join(found.get('content', {})) if status == '200' else '')}"
        )
        for status, found in one["responses"].items()
    )
    said.append(f"<table>{''.join(lines)}</table>")
    return "".join(said)
