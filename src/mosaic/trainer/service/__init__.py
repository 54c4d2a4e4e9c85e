"""The gRPC service, one module per topic."""
