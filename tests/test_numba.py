import threading

import pytest

from ecoc._numba import await_compilation


def test_a_compilation_is_begun_once_and_goes_on_while_nobody_waits():
    go_on, calls = threading.Event(), []

    def compile_kernels():
        calls.append(1)
        go_on.wait()

    assert not await_compilation(compile_kernels, 0.01)
    assert not await_compilation(compile_kernels, 0)
    go_on.set()
    assert await_compilation(compile_kernels, None)
    assert calls == [1]


def test_what_another_thread_disturbs_is_compiled_again():
    calls = []

    def compile_kernels() -> None:
        calls.append(len(calls))
        if len(calls) < 3:
            # What CPython says where a dictionary grows under a loop.
            table = dict.fromkeys(calls)
            for key in table:
                table[-1 - key] = None

    assert await_compilation(compile_kernels, None)
    assert calls == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_other_errors_of_the_compiler_are_not_tried_again():
    calls = []

    def compile_kernels() -> None:
        calls.append(1)
        raise RuntimeError("no such type")

    assert await_compilation(compile_kernels, None)
    assert calls == [1]
