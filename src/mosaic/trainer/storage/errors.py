"""Errors of checkpoints and their lists. The service maps each class to a gRPC status."""

from mosaic.contract.errors import UserError


class UnknownCheckpointError(UserError):
    """There is no checkpoint with this id."""

    default_code = "T400"

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(
            f"There is no checkpoint '{checkpoint_id}'.",
            remedy="`mosaic checkpoints list` shows the ids of all checkpoints.",
            code=self.default_code,
        )


class InvalidCheckpointError(UserError):
    """An uploaded checkpoint does not match its header, or its record is unreadable."""

    default_code = "T401"

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy=remedy, code=self.default_code)


class StoragePageTokenError(UserError):
    """The page token does not belong to this list."""

    default_code = "T402"

    def __init__(self) -> None:
        super().__init__(
            "The page token does not belong to this list.",
            remedy="Request the first page again, and keep the filters for all pages.",
            code=self.default_code,
        )
