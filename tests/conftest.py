from hypothesis import settings

# Machines differ in speed, and the same examples should run everywhere.
settings.register_profile("ecoc", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("ecoc")
