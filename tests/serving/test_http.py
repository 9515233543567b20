# X is what scikit-learn calls it
import asyncio
import json
import random
from functools import partial

import pytest
from sklearn.naive_bayes import GaussianNB
from tests.multiclass.cases import blobs
from tests.serving.stand_in import VirtualServer

from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.serving import make_app
from ecoc.tables import Feature, TableModel

pytest.importorskip("starlette")

X, Y = blobs(n_classes=3, n_features=2)
MODEL = ECOCClassifier(GaussianNB(), "exhaustive").fit(X, Y)
JSON = "application/json"
GOOD = {
    JSON: json.dumps({"rows": X[:2].tolist()}).encode(),
    "text/csv": "\n".join(",".join(map(str, row)) for row in X[:2].tolist()).encode(),
}


async def call(app, method, path, body=b"", *, kind=JSON, chunks=1, length=True):
    """One request of an ASGI application, in this process."""
    headers = [(b"content-type", kind.encode("latin-1"))]
    if length:
        headers.append((b"content-length", str(len(body)).encode()))
    size = -(-len(body) // chunks) or 1
    parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
    sent = []

    async def receive():
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def ask(app, body, **how):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, answer = asyncio.run(call(app, "POST", "/predict", content, **how))
    return status, json.loads(answer)


def look(app, path):
    status, answer = asyncio.run(call(app, "GET", path))
    return status, answer.decode()


def test_json_and_csv_are_answered():
    app = make_app(VirtualServer(MODEL))
    expected = MODEL.predict(X[:4]).tolist()
    status, answer = ask(app, {"rows": X[:4].tolist()})
    assert status == 200
    assert answer["predictions"] == expected
    assert answer["margins"] == MODEL.margin(X[:4]).tolist()
    assert answer["missing_columns"] == []
    assert answer["n_columns"] == 3
    lines = "\n".join(",".join(map(repr, row)) for row in X[:4].tolist())
    assert ask(app, lines.encode(), kind="text/csv; charset=utf-8") == (200, answer)
    spaced = lines.replace("\n", "\r\n\r\n") + "\r\n"
    assert ask(app, spaced.encode("utf-8-sig"), kind="text/csv") == (200, answer)
    assert ask(app, {"rows": X[:4].tolist()}, chunks=7, length=False) == (200, answer)


def test_named_values_are_found_by_name():
    model = TableModel(MODEL, (Feature("a"), Feature("b")))
    app = make_app(VirtualServer(model))
    row = dict(zip("ba", X[0, ::-1].tolist(), strict=True))
    expected = MODEL.predict(X[:1]).tolist()
    answer = ask(app, {"rows": [{**row, "other": "text"}]})
    assert answer[1].get("predictions") == expected, answer
    table = f"b,a\n{row['b']!r},{row['a']!r}\n".encode()
    assert ask(app, table, kind="text/csv")[1]["predictions"] == expected
    status, answer = ask(app, {"rows": [[1, 2]]})
    assert status == 400
    assert "knows its features by name" in answer["error"]
    status, answer = ask(app, {"rows": [{"c": 1}]})
    assert status == 400
    assert "'a', 'b' are not among 'c'" in answer["error"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        (b"{", JSON, 400, "Expecting property name"),
        (b'{"lines": []}', JSON, 400, '{"rows": [...]}'),
        (b"[[1, NaN]]", JSON, 400, "must be finite, not NaN"),
        (b"[[1, 1e999]]", JSON, 400, "must be finite"),
        (b"[[1, 2], [1]]", JSON, 400, "same number of numbers"),
        (b"[[1, true]]", JSON, 400, "Row 0 must hold numbers"),
        (b"[[1, 2, 3]]", JSON, 400, "2 features"),
        (b"[" * 100_000, JSON, 400, "nested"),
        (b"a,b\n1,2", "text/csv", 400, "Row 0 must hold numbers, not 'a': "),
        (b"\n", "text/csv", 400, "at least one row"),
        (b"\xff\xfe", "text/csv", 400, "decode"),
        (b"[[1, 2]]", "text/html", 415, "must be application/json or text/csv"),
        (b"[" + b"[1, 2]," * 20 + b"[1, 2]]", JSON, 413, "at most 20 rows, not 21"),
        (b"1,2\n" * 21, "text/csv", 413, "at most 20 rows, not 21"),
        (b"1,2\n" * 51, "text/csv", 413, "at most 20 rows, not 51"),
        (b" " * 200_001, JSON, 413, "at most 200,000 bytes"),
    ],
)
def test_errors_say_what_would_work(body, kind, status, message):
    app = make_app(VirtualServer(MODEL), max_bytes=200_000, max_rows=20)
    found, answer = ask(app, body, kind=kind)
    assert (found, message in answer["error"]) == (status, True), answer
    # Whoever does not say how much is coming is stopped on the way.
    assert ask(app, body, kind=kind, chunks=9, length=False)[0] == status


def test_there_are_three_addresses():
    app = make_app(VirtualServer(MODEL))
    assert look(app, "/predict")[0] == 405
    status, text = look(app, "/admin")
    assert status == 404
    assert "POST /predict" in text


def malformed(rng):
    """A body that somebody broke, and what it is said to be."""
    kind = rng.choice([JSON, JSON, "text/csv"])
    body = bytearray(GOOD[kind])
    match rng.randrange(8):
        case 0:
            body = body[: rng.randrange(len(body))]
        case 1 | 2:
            for _ in range(rng.randrange(1, 9)):
                body[rng.randrange(len(body))] = rng.randrange(256)
        case 3:
            body = bytearray(rng.randbytes(rng.randrange(200)))
        case 4:
            body *= 2
        case 5:
            start = rng.randrange(len(body))
            body[start : start + 20] = bytes(rng.choices(b'[]{},:"\\\n0eE-.', k=40))
        case 6:
            strange = [
                b"1" * 5000,
                b"1" * 400,
                b"null",
                b'"\\ud800"',
                b"-1e999",
                b"{}",
                b"[[]]",
                b"Infinity",
            ]
            body = bytearray(b'{"rows": [[1, ' + rng.choice(strange) + b"]]}")
        case 7:
            body = bytearray(rng.randbytes(1) * rng.randrange(2001, 9000))
    return bytes(body), kind, rng.random() < 0.5


@pytest.mark.slow
def test_ten_thousand_broken_bodies_break_nothing():
    app = make_app(VirtualServer(MODEL), max_bytes=2000, max_rows=50, n_threads=1)
    rng = random.Random(0)

    async def storm():
        counts = dict.fromkeys((200, 400, 413), 0)
        for _ in range(10_000):
            body, kind, length = malformed(rng)
            status, answer = await call(
                app, "POST", "/predict", body, kind=kind, chunks=2, length=length
            )
            counts[status] += 1
            assert ("error" in json.loads(answer)) == (status != 200)
        return counts

    counts = asyncio.run(storm())
    assert counts[400] > 5000
    assert counts[413] > 1000
    assert ask(app, {"rows": X[:1].tolist()})[0] == 200
    assert "ecoc_requests_under_way 0\n" in look(app, "/metrics")[1]


def test_beyond_the_queue_requests_are_refused_until_there_is_room():
    # One at a time: workers whose time is not real serve one thread.
    app = make_app(VirtualServer(MODEL), max_requests=2, n_threads=1)
    good = json.dumps({"rows": X[:1].tolist()}).encode()

    async def rush():
        door, first = asyncio.Event(), partial(call, app, "POST", "/predict", good)

        async def slowly():
            """A request whose body comes when the door opens."""
            messages = [{"type": "http.request", "body": good, "more_body": False}]

            async def receive():
                await door.wait()
                return messages.pop()

            async def send(message):
                statuses.append(message.get("status"))

            scope = {
                "type": "http",
                "method": "POST",
                "path": "/predict",
                "query_string": b"",
                "headers": [(b"content-type", JSON.encode())],
            }
            await app(scope, receive, send)

        statuses = []
        begun = [asyncio.ensure_future(slowly()) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await first()
        door.set()
        await asyncio.gather(*begun)
        return refused, [status for status in statuses if status], await first()

    refused, begun, after = asyncio.run(rush())
    assert refused[0] == 503
    assert b"2 requests are under way" in refused[1]
    assert begun == [200, 200]
    assert after[0] == 200


def test_health_and_metrics_follow_the_workers():
    server = VirtualServer(MODEL, n_workers=2)
    app = make_app(server, patience=0)
    assert json.loads(look(app, "/health")[1])["status"] == "ok"
    ask(app, {"rows": X[:2].tolist()})
    ask(app, b"{")
    text = look(app, "/metrics")[1]
    for line in (
        'ecoc_requests_total{status="200"} 1',
        'ecoc_requests_total{status="400"} 1',
        "ecoc_rows_total 2",
        "ecoc_workers 2",
        'ecoc_request_seconds_bucket{le="+Inf"} 1',
        "ecoc_request_seconds_count 1",
    ):
        assert line in text.splitlines()
    for worker in list(server.crew.names()):
        server.crew.kill(worker)
    server.crew.pass_time(1.0)
    status, answer = look(app, "/health")
    assert status == 503
    assert json.loads(answer)["columns_without_worker"] == [0, 1, 2]
    status, answer = ask(app, {"rows": X[:2].tolist()})
    assert status == 504
    assert "No column answered" in answer["error"]


def test_limits_are_checked():
    with pytest.raises(InvalidInputError, match="max_rows"):
        make_app(VirtualServer(MODEL), max_rows=0)
