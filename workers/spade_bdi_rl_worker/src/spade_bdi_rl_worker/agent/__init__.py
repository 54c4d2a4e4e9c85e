"""The BDI agent: its plans, its actions, and what can be seen of its mind."""

from spade_bdi_rl_worker.agent.running import check, run

__all__ = ["check", "run"]
