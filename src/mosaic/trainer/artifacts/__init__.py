"""Files of runs: artifacts and their manifest, archives, output, removal."""
