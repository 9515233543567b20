# X is what scikit-learn calls it
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from sklearn.naive_bayes import GaussianNB
from tests.multiclass.cases import blobs

from ecoc.cli import main
from ecoc.multiclass import ECOCClassifier

pytest.importorskip("uvicorn")
distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

ECOC = Path(sys.executable).with_name("ecoc")
X, Y = blobs(n_classes=3, n_features=2)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    ECOCClassifier(GaussianNB(), "exhaustive").fit(X, Y).save(path)
    return str(path)


class SlowRequest:
    """A request whose body comes in two halves, the second when it is told to."""

    def __init__(self, port):
        self.body = json.dumps({"rows": X[:3].tolist()}).encode()
        head = (
            "POST /predict HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.sendall(head.encode() + self.body[:10])

    def finish(self):
        self.connection.sendall(self.body[10:])
        response = http.client.HTTPResponse(self.connection)
        response.begin()
        status, answer = response.status, json.loads(response.read())
        self.connection.close()
        return status, answer


@contextmanager
def ended(process):
    """A process that is not left behind."""
    try:
        yield
    finally:
        process.kill()


def fetch(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def workers_of(pid):
    """The processes of the workers that the server has begun."""
    return {
        process.pid
        for process in psutil.Process(pid).children(recursive=True)
        if any("forkserver" in part for part in process.parent().cmdline())
    }


def wait_for(port, line):
    for _ in range(5000):
        if line in fetch(port, "GET", "/metrics")[1].splitlines():
            return
    raise AssertionError(line)


def wait_for_refusal(port):
    """Until whoever listens there has begun to stop."""
    with suppress(ConnectionRefusedError, ConnectionResetError):
        while True:
            socket.create_connection(("127.0.0.1", int(port))).close()


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.filterwarnings("ignore")  # what a cluster says as it starts and stops
@pytest.mark.slow
def test_overload_is_refused_and_a_signal_finishes_what_is_begun(model_file, scheduler):
    expected = ECOCClassifier(GaussianNB(), "exhaustive").fit(X, Y).predict(X[:3]).tolist()
    options = ["--port", "0", "--json", "--scheduler", scheduler, "--deadline", "600s"]
    command = [ECOC, "serve", model_file, *options, "--max-requests", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server, ended(server):
        started = json.loads("".join(server.stdout.readline() for _ in range(4)))
        host, port = started["url"].removeprefix("http://").split(":")
        assert host == "127.0.0.1"
        body = json.dumps({"rows": X[:3].tolist()})

        slow = SlowRequest(int(port))
        wait_for(port, "ecoc_requests_under_way 1")
        status, text = fetch(port, "POST", "/predict", body)
        assert (status, "try again" in text) == (503, True)
        assert fetch(port, "GET", "/health")[0] == 200
        assert slow.finish()[1]["predictions"] == expected
        status, text = fetch(port, "POST", "/predict", body)
        assert (status, json.loads(text)["predictions"]) == (200, expected)

        slow = SlowRequest(int(port))
        wait_for(port, "ecoc_requests_under_way 1")
        server.send_signal(signal.SIGTERM)
        wait_for_refusal(port)
        status, answer = slow.finish()
        assert (status, answer["predictions"]) == (200, expected)
        _, talk = server.communicate()
    assert server.returncode == 0
    assert "Traceback" not in talk
    assert talk.splitlines()[-1] == "stopped"


def lose_a_worker(server, port):
    before = workers_of(server.pid)
    assert len(before) == 2
    os.kill(min(before), signal.SIGKILL)
    for _ in range(5000):
        fetch(port, "GET", "/metrics")
        if workers_of(server.pid) - before:
            break
    wait_for(port, "ecoc_workers 2")
    server.send_signal(signal.SIGTERM)


def type_ctrl_c(server, port):
    """As a terminal does."""
    del port
    os.killpg(server.pid, signal.SIGINT)


def signal_all(server, port):
    """As a service manager does that stops a service."""
    del port
    for process in psutil.Process(server.pid).children(recursive=True):
        process.terminate()
    server.terminate()


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop",
    [lose_a_worker, type_ctrl_c, signal_all],
    ids=["a worker is replaced", "Ctrl-C", "SIGTERM for all"],
)
def test_what_is_begun_is_finished(model_file, stop):
    command = [ECOC, "serve", model_file, "--port", "0", "--json", "--deadline", "600s"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with (
        subprocess.Popen([*command, "--workers", "2"], text=True, **pipes) as server,
        ended(server),
    ):
        started = json.loads("".join(server.stdout.readline() for _ in range(4)))
        port = started["url"].rpartition(":")[2]
        slow = SlowRequest(int(port))
        wait_for(port, "ecoc_requests_under_way 1")
        stop(server, port)
        wait_for_refusal(port)
        status, answer = slow.finish()
        assert status == 200
        assert len(answer["predictions"]) == 3
        _, talk = server.communicate()
    assert server.returncode == 0
    assert "Traceback" not in talk
    assert talk.splitlines()[-1] == "stopped"


@pytest.mark.parametrize("time", ["0", "0ms", "200ms", "0.2", "1.5 s", "auto"])
def test_times_are_taken_with_and_without_unit(time):
    result = CliRunner().invoke(main, ["serve", "missing.skops", "--deadline", time])
    assert "missing.skops" in result.stderr
    assert "no time" not in result.stderr


def test_a_port_that_is_taken_is_told_before_workers_are_begun(model_file):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(main, ["serve", model_file, "--port", port])
    assert result.exit_code == 2
    assert f"Cannot listen on port {port} of 127.0.0.1" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "Add --public"),
        (["--host", "example.org"], "Add --public"),
        (["--deadline", "soon"], "'soon' is no time; write 200ms, 1.5s or 0.2, or auto."),
        (["--deadline", "-1"], "'-1' is no time"),
        (["--deadline", "1h"], "'1h' is no time"),
        (["--deadline", "9" * 400], "is no time"),
        (["--patience", "nan"], "'nan' is no time"),
        (["--patience", "auto"], "'auto' is no time; write 200ms, 1.5s or 0.2."),
        (["--workers", "0"], "--workers"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_begun(options, message):
    result = CliRunner().invoke(main, ["serve", "missing.skops", *options])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
