"""Axes, curves and readouts of pyqtgraph plots."""
