"""The play centre: grid, picture and raw values of the environment, and the bar to play with."""
