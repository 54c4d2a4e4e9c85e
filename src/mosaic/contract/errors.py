"""The base class of errors that are shown to users."""


class UserError(Exception):
    """An error that the user can fix.

    `message` says what is wrong, `remedy` what to do, `code` is stable and searchable.
    Any other exception is a bug and is not caught.
    """

    def __init__(self, message: str, *, remedy: str, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        prefix = f"{self.code} " if self.code else ""
        return f"{prefix}{self.message} {self.remedy}".strip()
