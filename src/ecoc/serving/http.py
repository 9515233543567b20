"""The HTTP door of a server: predictions, health and metrics."""

from __future__ import annotations

import csv
import json
import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecoc._checks import check_int, counted, require
from ecoc.errors import EcocError, InvalidInputError, TimeLimitError
from ecoc.serving.server import ColumnServer, ServerStatus, check_waiting
from ecoc.tables import TableModel, parse_table, record_table

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["make_app"]

_LOG = logging.getLogger("ecoc.serving")

_BODY_SECONDS = 10.0
"""How long a body may take to arrive."""

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The latencies, in seconds, up to which requests are counted."""

_SOURCE = "the body"
_JSON, _CSV = "application/json", "text/csv"


def make_app(
    server: ColumnServer,
    *,
    deadline: float | Literal["auto"] | None = 0.2,
    min_margin: int | None = None,
    patience: float = 1.0,
    max_bytes: int = 10 << 20,
    max_rows: int = 10_000,
    max_requests: int = 64,
    n_threads: int = 8,
) -> Starlette:
    """The server as an ASGI application, for uvicorn or any other ASGI server.

    ``POST /predict`` takes JSON, ``{"rows": [...]}``, or CSV; ``GET /health`` says how the
    workers are; ``GET /metrics`` has counts and latencies for Prometheus. A request beyond
    `max_requests` is refused at once with status 503.

    Parameters
    ----------
    server : ColumnServer
        What predicts.
    deadline, min_margin, patience
        As for :meth:`ColumnServer.predict`.
    max_bytes : int
        The largest body that is read.
    max_rows : int
        The most rows of one request.
    max_requests : int
        The most requests that are under way at a time, or wait to be.
    n_threads : int
        The most requests that wait for workers at a time.

    Examples
    --------
    >>> from dask.distributed import LocalCluster
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ecoc.multiclass import ECOCClassifier
    >>> model = ECOCClassifier(GaussianNB(), "exhaustive").fit(*load_iris(return_X_y=True))
    >>> cluster = LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    >>> with cluster, ColumnServer(model, cluster.scheduler_address) as server:
    ...     app = make_app(server, deadline=0.1)  # uvicorn.run(app) listens
    >>> [route.path for route in app.routes]
    ['/predict', '/health', '/metrics']
    """
    require("starlette", extra="serve")
    from starlette.applications import Starlette
    from starlette.routing import Route

    check_waiting(deadline, min_margin, patience)
    door = _Door(
        server,
        {"deadline": deadline, "min_margin": min_margin, "patience": patience},
        check_int("max_bytes", max_bytes, minimum=1),
        check_int("max_rows", max_rows, minimum=1),
        check_int("max_requests", max_requests, minimum=1),
        check_int("n_threads", n_threads, minimum=1),
    )
    routes = [
        Route("/predict", door.predict, methods=["POST"]),
        Route("/health", door.health),
        Route("/metrics", door.metrics),
    ]
    return Starlette(routes=routes, exception_handlers={404: _missing, 405: _missing})


class _RefusalError(Exception):
    """A request that is not answered, and what its sender is told."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers


@dataclass
class _Door:
    """What the routes do, and what they count."""

    server: ColumnServer
    options: Mapping[str, Any]
    max_bytes: int
    max_rows: int
    max_requests: int
    n_threads: int
    under_way: int = 0
    requests: Counter[int] = field(default_factory=Counter)
    below: int = 0
    latencies: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    _limiter: Any = None

    async def predict(self, request: Request) -> Response:
        """Answer a request for predictions."""
        began = time.monotonic()
        try:
            if self.under_way >= self.max_requests:
                raise _RefusalError(
                    503, f"{self.max_requests} requests are under way; try again.", retry_after="1"
                )
            self.under_way += 1
            try:
                answer = await self._answer(request)
            finally:
                self.under_way -= 1
        except _RefusalError as refusal:
            self.requests[refusal.status] += 1
            headers = {name.replace("_", "-"): text for name, text in refusal.headers.items()}
            return _response({"error": str(refusal)}, refusal.status, headers)
        seconds = time.monotonic() - began
        self.requests[200] += 1
        self.below += sum(answer["below"])
        self.latencies[bisect_left(_BUCKETS, seconds)] += 1
        self.seconds += seconds
        return _response(answer)

    async def _answer(self, request: Request) -> dict[str, Any]:
        from anyio import CapacityLimiter, to_thread

        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in {_JSON, _CSV}:
            raise _RefusalError(
                415, f"The content type must be {_JSON} or {_CSV}, not {kind[:80]!r}."
            )
        body = await self._body(request)
        if self._limiter is None:
            self._limiter = CapacityLimiter(self.n_threads)
        return await to_thread.run_sync(self._predicted, body, kind, limiter=self._limiter)

    async def _body(self, request: Request) -> bytes:
        """The body, if it comes soon and is not too large."""
        from anyio import fail_after
        from starlette.requests import ClientDisconnect

        size = request.headers.get("content-length", "0")
        too_large = _RefusalError(413, f"The body must have at most {self.max_bytes:,} bytes.")
        if size.isdigit() and int(size[:20]) > self.max_bytes:
            raise too_large

        body = bytearray()
        try:
            with fail_after(_BODY_SECONDS):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > self.max_bytes:
                        raise too_large
        except TimeoutError as error:
            raise _RefusalError(408, f"The body must arrive within {_BODY_SECONDS:g} s.") from error
        except ClientDisconnect as error:
            raise _RefusalError(400, "The sender has left.") from error
        return bytes(body)

    def _predicted(self, body: bytes, kind: str) -> dict[str, Any]:
        """Read a body and predict its rows; in a thread."""
        try:
            rows = self._rows(body, kind)
            served = self.server.predict(rows, **self.options)
        except _RefusalError:
            raise
        except TimeLimitError as error:
            raise _RefusalError(504, str(error)) from error
        except RecursionError as error:
            raise _RefusalError(400, "The body must not be nested so deeply.") from error
        except (EcocError, ValueError, TypeError, OverflowError, csv.Error) as error:
            raise _RefusalError(400, f"{error}"[:2000]) from error
        except Exception as error:
            _LOG.exception("a request failed")
            raise _RefusalError(500, "The server failed; its log says why.") from error
        return served.to_plain()

    def _rows(self, body: bytes, kind: str) -> Any:
        """The rows of a body, as the model takes them."""
        named = isinstance(self.server.model, TableModel)
        if kind == _CSV:
            # Before anything is made of it: a line may become much larger than it was.
            if body.count(b"\n") > 2 * self.max_rows + 10:
                raise self._too_many(body.count(b"\n"))
            if named:
                table = parse_table(body, _SOURCE)
                if len(table.rows) > self.max_rows:
                    raise self._too_many(len(table.rows))
                return table
            rows: Any = _csv_rows(body)
        else:
            rows = _json_rows(body)
        if len(rows) > self.max_rows:
            raise self._too_many(len(rows))
        if named:
            return record_table(_records(rows), _SOURCE)
        return _numbers(rows)

    def _too_many(self, count: int) -> _RefusalError:
        return _RefusalError(
            413, f"A request must have at most {self.max_rows:,} rows, not {count:,}."
        )

    async def health(self, request: Request) -> Response:
        """Say how the workers are: 503 while no column has a worker."""
        del request
        status = self.server.status()
        state = "ok" if not status.homeless_columns else "degraded"
        if not status.workers:
            state = "down"
        return _response(
            {
                "status": state,
                "workers": len(status.workers),
                "distrusted": list(status.distrusted),
                "columns_without_worker": list(status.homeless_columns),
            },
            503 if state == "down" else 200,
        )

    async def metrics(self, request: Request) -> Response:
        """Counts and latencies, as Prometheus reads them."""
        from starlette.responses import PlainTextResponse

        del request
        lines = self._lines(self.server.status())
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return PlainTextResponse("\n".join(lines) + "\n", headers={"content-type": kind})

    def _lines(self, status: ServerStatus) -> list[str]:
        def metric(name: str, kind: str, text: str, *values: tuple[str, float]) -> list[str]:
            head = [f"# HELP ecoc_{name} {text}", f"# TYPE ecoc_{name} {kind}"]
            return head + [f"ecoc_{name}{label} {value}" for label, value in values]

        by_status = [(f'{{status="{code}"}}', n) for code, n in sorted(self.requests.items())]
        running = np.cumsum([self.latencies[place] for place in range(len(_BUCKETS) + 1)]).tolist()
        bounds = [*map(str, _BUCKETS), "+Inf"]
        buckets = [
            (f'_bucket{{le="{bound}"}}', count)
            for bound, count in zip(bounds, running, strict=True)
        ]
        late, failed, lost = status.late_answers, status.failed_answers, status.lost_answers
        answers = [('{kind="late"}', late), ('{kind="failed"}', failed), ('{kind="lost"}', lost)]
        return [
            *metric("requests_total", "counter", "Requests for predictions.", *by_status),
            *metric("requests_under_way", "gauge", "Requests under way.", ("", self.under_way)),
            *metric("rows_total", "counter", "Rows predicted.", ("", status.rows)),
            *metric("rows_below_total", "counter", "Below the margin.", ("", self.below)),
            *metric("batches_total", "counter", "Batches predicted.", ("", status.batches)),
            *metric(
                "missing_columns_total",
                "counter",
                "Columns that had not answered, over all batches.",
                ("", status.missing_columns),
            ),
            *metric("answers_missed_total", "counter", "Answers of workers not used.", *answers),
            *metric("workers", "gauge", "Workers that hold columns.", ("", len(status.workers))),
            *metric(
                "workers_distrusted",
                "gauge",
                "Workers that answered wrongly.",
                ("", len(status.distrusted)),
            ),
            *metric(
                "columns_without_worker",
                "gauge",
                "Columns that no worker holds.",
                ("", len(status.homeless_columns)),
            ),
            *metric(
                "request_seconds",
                "histogram",
                "How long answered requests took.",
                *(*buckets, ("_sum", self.seconds), ("_count", running[-1])),
            ),
        ]


async def _missing(request: Request, error: Exception) -> Response:
    status = int(getattr(error, "status_code", 404))
    known = "There are POST /predict, GET /health and GET /metrics"
    text = f"{known}, not {request.method} {request.url.path[:80]}."
    return _response({"error": text}, status, getattr(error, "headers", None))


def _response(
    content: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    from starlette.responses import Response

    # Labels may be of types that JSON has not, such as dates.
    text = json.dumps(content, default=str)
    return Response(text, status, headers=headers, media_type=_JSON)


def _json_rows(body: bytes) -> list[Any]:
    """The rows of a JSON body."""

    def refuse(text: str) -> None:
        raise InvalidInputError(f"Numbers must be finite, not {text}; null is a missing value.")

    content = json.loads(body, parse_constant=refuse)
    rows = content.get("rows") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not rows:
        raise InvalidInputError(
            'The body must be {"rows": [...]} with at least one row, each a list of numbers or an '
            "object of named values."
        )
    return rows


def _csv_rows(body: bytes) -> list[list[str | None]]:
    """The rows of a CSV body without names; what is empty is a missing value."""
    lines = csv.reader(body.decode("utf-8-sig").splitlines(), strict=True)
    rows = [[text if text.strip() else None for text in line] for line in lines if line]
    if not rows:
        raise InvalidInputError("The body must have at least one row.")
    return rows


def _records(rows: list[Any]) -> list[dict[str, object]]:
    """Rows of named values, none of which is nested."""
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or any(
            isinstance(value, list | dict) for value in row.values()
        ):
            raise InvalidInputError(
                f'Row {number} must be an object such as {{"length": 1.5, "colour": "red"}}: the '
                "model knows its features by name."
            )
    return rows


def _numbers(rows: list[Any]) -> Any:
    """Rows of numbers as an array."""
    widths = {len(row) if isinstance(row, list) else -1 for row in rows}
    if -1 in widths or len(widths) != 1:
        raise InvalidInputError("All rows must be lists of the same number of numbers.")
    for number, row in enumerate(rows):
        for value in row:
            if isinstance(value, bool | list | dict):
                raise InvalidInputError(
                    f"Row {number} must hold numbers, and null for missing ones, not {value!r:.80}."
                )
            if isinstance(value, str):
                try:
                    float(value)
                except ValueError as error:
                    raise InvalidInputError(
                        f"Row {number} must hold numbers, not {value!r:.80}: the model was trained "
                        "on arrays and takes no names."
                    ) from error
    numbers = np.array(rows, dtype=np.float64)
    if np.isinf(numbers).any():
        raise InvalidInputError(f"Numbers must be finite, in all of {counted(len(rows), 'row')}.")
    return numbers
