"""The one kind of error a person is meant to read."""


class UserError(Exception):
    """The world is not as it must be, and a person can change that.

    `message` says what happened, `remedy` what to do next, `code` is stable and greppable.
    Everything else that is raised is a bug and crashes loudly.
    """

    def __init__(self, message: str, *, remedy: str, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        prefix = f"{self.code} " if self.code else ""
        return f"{prefix}{self.message} {self.remedy}".strip()
