"""Files and servers of TensorBoard, Weights & Biases and Optuna. Needs neither Qt nor a daemon."""
