"""The error that ends a measurement, with an exit code of docs/exit-codes.md."""

from __future__ import annotations

ERROR, USAGE, NO_INPUT, INPUT_OUTPUT = 1, 2, 10, 16


class Refusal(Exception):
    """A text that names the argument or the file, and the next step."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code
