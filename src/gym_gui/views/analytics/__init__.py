"""Pages of TensorBoard, Weights & Biases and Optuna."""
