"""Settings of all tests: machines that build at the same time are slow, so nothing has a deadline."""

from hypothesis import settings

settings.register_profile("warpseal", deadline=None, print_blob=True)
settings.load_profile("warpseal")
