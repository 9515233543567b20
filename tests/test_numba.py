import threading

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
