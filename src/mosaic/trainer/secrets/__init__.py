"""Keys and passwords: where they come from, who gets which, and keeping them out of all text."""

from mosaic.trainer.secrets.redaction import RedactingFilter
from mosaic.trainer.secrets.secrets import Secrets

__all__ = ["RedactingFilter", "Secrets"]
