"""Resources of this machine: processors, memory, GPUs, disk space."""
