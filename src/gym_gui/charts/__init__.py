"""Charts of runs' metrics. pyqtgraph is imported in the background when the tab is first shown."""
