"""Settings of all tests. Nothing has a deadline, as a machine may build at the same time."""

from hypothesis import settings

settings.register_profile("warpseal", deadline=None, print_blob=True)
settings.load_profile("warpseal")
