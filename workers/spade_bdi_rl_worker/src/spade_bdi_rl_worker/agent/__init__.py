"""The BDI agents: plans, actions, deliberation, and snapshots of beliefs, goals and intentions."""

from spade_bdi_rl_worker.agent.runner import check_settings, run_agents

__all__ = ["check_settings", "run_agents"]
