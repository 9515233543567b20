"""The verb that answers requests over HTTP."""

from __future__ import annotations

import ipaddress
import logging
import math
import re
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any, Literal

import click

from ecoc._checks import require
from ecoc.cli._common import (
    common_options,
    is_verbose,
    load_trained,
    print_json,
    talk,
    trust_option,
)

if TYPE_CHECKING:
    from ecoc.serving import ColumnServer

_GRACE_SECONDS = 30
"""How long requests that are under way may take once the server is asked to stop."""


def _seconds(_: click.Context, option: click.Parameter, value: str) -> float | Literal["auto"]:
    """A time such as 200ms, 1.5s or 0.2, in seconds; a deadline may be automatic."""
    auto = option.name == "deadline"
    if auto and value.strip() == "auto":
        return "auto"
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s)?", value.strip(), re.ASCII)
    if found is None or not math.isfinite(float(found[1])):
        times = "200ms, 1.5s or 0.2" + (", or auto" if auto else "")
        raise click.BadParameter(f"{value[:80]!r} is no time; write {times}.")
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@click.command()
@click.argument("model", metavar="MODEL")
@click.option(
    "--deadline",
    metavar="TIME",
    callback=_seconds,
    default="200ms",
    show_default=True,
    help="When to answer without the columns that are late; auto learns what is usual.",
)
@click.option(
    "--min-margin",
    type=click.IntRange(min=0),
    help="Wait for, and mark, rows that survive fewer wrong answers.",
)
@click.option(
    "--patience",
    metavar="TIME",
    callback=_seconds,
    default="1s",
    show_default=True,
    help="How long to wait for such rows after the deadline.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="A Dask scheduler. [processes of this machine]"
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Processes, where there is no scheduler.",
)
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Workers that hold each column.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--public", is_flag=True, help="Allow a host that others can reach.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=10 << 20,
    show_default=True,
    help="The largest body.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="The most rows of a request.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="The most requests under way; others get status 503.",
)
@trust_option
@common_options
def serve(
    model: str,
    deadline: float | Literal["auto"],
    min_margin: int | None,
    patience: float,
    scheduler: str | None,
    workers: int,
    replicas: int,
    host: str,
    port: int,
    public: bool,
    max_bytes: int,
    max_rows: int,
    max_requests: int,
    trust: tuple[str, ...],
    as_json: bool,
) -> None:
    """Answer requests for predictions over HTTP, with the columns that answer in time.

    MODEL is a .skops file of ecoc fit or of a classifier. POST /predict takes JSON or CSV,
    GET /health and GET /metrics tell how it goes. Stops by SIGTERM or Ctrl-C, once what was begun
    is answered. There is no encryption and no login: a host other than this machine needs
    --public, and a proxy that has both. Needs the extras dask and serve.
    """
    if not public and not _is_loopback(host):
        raise click.UsageError(
            f"--host {host} can be reached by others, without encryption or login. Add --public "
            "if that is meant."
        )
    require("uvicorn", extra="serve")
    from ecoc.serving import ColumnServer, make_app
    from ecoc.tables import TableModel

    if not is_verbose():
        logging.getLogger("distributed").setLevel(logging.ERROR)
    trained = load_trained(model, trust)
    if hasattr(trained, "feature_names_in_"):
        trained = TableModel.of(trained)
    with (
        _bound_socket(host, port) as listening,
        ColumnServer(trained, scheduler, replicas=replicas, n_workers=workers) as server,
    ):
        app = make_app(
            server,
            deadline=deadline,
            min_margin=min_margin,
            patience=patience,
            max_bytes=max_bytes,
            max_rows=max_rows,
            max_requests=max_requests,
        )
        _run(app, server, listening, host, as_json=as_json)


def _bound_socket(host: str, port: int) -> socket.socket:
    """A socket that has its address, and does not listen yet."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise click.UsageError(
            f"Cannot listen on port {port} of {host}: {error.strerror}. Choose another --port; 0 "
            "is one that is free."
        ) from error
    return bound


def _run(
    app: Any, server: ColumnServer, listening: socket.socket, host: str, *, as_json: bool
) -> None:
    """Listen until a signal comes, and finish what is begun."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="info" if is_verbose() else "warning",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    # Whoever reads the address may call at once.
    listening.listen(config.backlog)
    port = listening.getsockname()[1]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    # uvicorn stops by these signals, and then sends them again to whoever had them before.
    before = {name: signal.signal(name, _noted) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        if as_json:
            print_json({"url": url, "workers": len(server.status().workers)})
            sys.stdout.flush()
        talk(f"serving at {url}, by SIGTERM or Ctrl-C it stops")
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    talk("stopped")


def _noted(number: int, frame: object) -> None:
    """Do nothing more about a signal."""
