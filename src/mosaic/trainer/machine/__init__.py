"""What this machine has: processors, memory, GPUs, room on the disk."""
