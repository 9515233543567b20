import signal

from hypothesis import settings

# Machines differ in speed, and the same examples should run everywhere. Who looks for new
# counterexamples has the time: pytest --hypothesis-profile thorough
settings.register_profile("ecoc", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("ecoc")

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be all that tests
# start in turn.
signal.signal(signal.SIGINT, signal.default_int_handler)
