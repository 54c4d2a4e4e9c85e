"""What is kept beyond telemetry: TensorBoard, Weights & Biases, Hugging Face, videos."""
