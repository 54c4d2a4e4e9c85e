"""What is refused about checkpoints and lists; the service gives each its status by its class."""

from mosaic.contract.errors import UserError


class UnknownCheckpointError(UserError):
    """No checkpoint has this id."""

    default_code = "T400"

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(
            f"There is no checkpoint '{checkpoint_id}'.",
            remedy="`mosaic checkpoints list` shows the ids of all checkpoints.",
            code=self.default_code,
        )


class CheckpointGoneError(UserError):
    """Its file was removed since it was listed."""

    default_code = "T408"

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(
            f"The file of the checkpoint '{checkpoint_id}' is gone.",
            remedy="Choose another one.",
            code=self.default_code,
        )


class CheckpointRefusedError(UserError):
    """What arrived is not the checkpoint that was announced."""

    default_code = "T401"

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy=remedy, code=self.default_code)


class StoragePageTokenError(UserError):
    """The page token is none of this list."""

    default_code = "T402"

    def __init__(self) -> None:
        super().__init__(
            "The page token does not belong to this list.",
            remedy="Ask for the first page again, and keep the filters while going through pages.",
            code=self.default_code,
        )
