"""One algorithm per file, each also a script: `python -m cleanrl_worker.learners.ppo --help`."""
