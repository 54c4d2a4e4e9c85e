"""The control plane's messages: generated from `proto/`, and their way to and from our structs."""
