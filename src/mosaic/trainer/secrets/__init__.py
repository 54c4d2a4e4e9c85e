"""Secrets: their sources, which worker gets which, and redacting them from all text."""

from mosaic.trainer.secrets.redaction import RedactingFilter
from mosaic.trainer.secrets.secret_sources import Secrets

__all__ = ["RedactingFilter", "Secrets"]
