"""Reading the bytes of a document, with errors that name the file."""

from pathlib import Path

from mosaic.contract.json_value import MAX_DOCUMENT_BYTES
from mosaic.contract.problems import DocumentError, Problem


def read_document(path: Path, error: type[DocumentError]) -> bytes:
    """The content of `path`, up to one byte beyond the limit of a document."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as cause:
        problem = Problem(
            (),
            "document",
            f"cannot be read: {cause.strerror}.",
            "Check that the file is there and that you may read it.",
        )
        raise error([problem], source=str(path)) from cause
