"""The play area: grid, frame and raw values of the environment, and the bar to play with."""
