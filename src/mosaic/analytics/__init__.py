"""Files and servers of TensorBoard, Weights & Biases and Optuna. No Qt, and no daemon."""
