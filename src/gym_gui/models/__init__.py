"""View-models: QtCore only, properties and changed signals."""
