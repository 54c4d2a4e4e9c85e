"""Charts of runs' metrics, one run or several over each other. pyqtgraph is imported in the
background when the tab is first shown, and by no module but those that draw with it."""
