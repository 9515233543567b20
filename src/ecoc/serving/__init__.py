"""Answers of columns under a deadline, on a cluster whose workers die, lag behind or lie."""

from ecoc.serving.http import make_app
from ecoc.serving.server import ColumnServer, ServedBatch, ServerStatus

__all__ = ["ColumnServer", "ServedBatch", "ServerStatus", "make_app"]
