"""The Optuna tab: trials, plots and parameter importance of a study."""
