"""Outputs beyond telemetry: TensorBoard, Weights & Biases, Hugging Face, videos."""
