"""The worker's descriptor. Needs only the standard library and the SDK."""

from __future__ import annotations

from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports
from mosaic_worker.play import PARAMETERS
from spade_bdi_rl_worker import __version__
from spade_bdi_rl_worker.presets import RECOMMENDED

_PAGES = Path(__file__).parent / "pages"
_UNSET = "Default: preset of the environment."

_LEARNING = (
    Parameter(
        "learning_rate", "float", None, min=0.0, max=1.0, group="Learning",
        help=f"Learning rate (step size) at the start. {_UNSET}",
        search=(0.01, 1.0), log=True,
    ),
    Parameter(
        "learning_rate_end", "float", None, min=0.0, max=1.0, group="Learning",
        help="Learning rate at the end, reached linearly. Small values average over random"
        f" transitions. {_UNSET}",
        search=(0.001, 0.5), log=True,
    ),
    Parameter(
        "discount", "float", None, min=0.0, max=1.0, group="Learning",
        help=f"Discount factor gamma. {_UNSET}",
        search=(0.9, 0.9999),
    ),
    Parameter(
        "initial_value", "float", None, min=-1e9, max=1e9, group="Learning",
        help="Initial action value. Optimistic values make the agent try all actions."
        f" {_UNSET}",
    ),
    Parameter(
        "max_episode_steps", "int", 0, min=0, max=100_000_000, unit="steps", group="Learning",
        help="Truncate episodes after this many steps. 0: the environment's own limit, or 2,000 if"
        " it has none, because greedy actions can loop.",
    ),
    Parameter(
        "epsilon_start", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Probability of a random action at the start. {_UNSET} A warm start uses at most 0.1,"
        " or the final epsilon if that is larger.",
        search=(0.1, 1.0),
    ),
    Parameter(
        "epsilon_end", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Probability of a random action at the end. {_UNSET}",
        search=(0.0, 0.2),
    ),
    Parameter(
        "epsilon_fraction", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Fraction of the training after which epsilon is final. {_UNSET}",
        search=(0.1, 1.0),
    ),
    Parameter(
        "epsilon_schedule", "choice", "linear",
        choices=("linear", "exponential", "constant"), group="Exploration",
        help="How epsilon decreases: linearly, exponentially, or not at all. Default: linear.",
    ),
)  # fmt: skip

_AGENT = (
    Parameter(
        "asl", "str", "", group="Agent",
        label="Plan file (.asl)",
        help="Absolute path of an AgentSpeak file with your own plans. Empty: the bundled plans.",
    ),
    Parameter(
        "team", "choice", "alone", choices=("alone", "coach", "pair"), group="Agent",
        help="A single learner, a learner with a coach that sets goals, or two learners that share"
        " action values. Default: alone.",
    ),
    Parameter(
        "xmpp", "str", "", group="Agent",
        label="Messages (XMPP)",
        help="How agents exchange messages. Empty: inside the worker, without a server."
        " `embedded`: a server started for the run. `host:port`: an existing server.",
    ),
    Parameter(
        "batch_episodes", "int", 0, min=0, max=1_000_000, unit="episodes", group="Agent",
        help="Episodes between two deliberations. 0: 1/200 of the run, at most 500.",
    ),
    Parameter(
        "evaluate_every", "int", 0, min=0, max=100_000_000, unit="episodes", group="Agent",
        help="Training episodes between two evaluations. 0: the plans decide.",
    ),
    Parameter(
        "evaluation_episodes", "int", 100, min=1, max=1_000_000, unit="episodes", group="Agent",
        help="Episodes per evaluation, without exploration. Default: 100.",
    ),
    Parameter(
        "goal_success_rate", "float", None, min=0.0, max=1.0, group="Agent",
        help=f"Success rate of an evaluation at which the goal is reached. {_UNSET}",
    ),
    Parameter(
        "stop_when_reached", "bool", False, group="Agent",
        help="Stop training when the goal is reached. Default: no.",
    ),
)  # fmt: skip

_OUTPUT = (
    Parameter(
        "steps_per_second", "float", 0.0, min=0.0, max=1e9, unit="steps/s", group="Output",
        help="Maximum speed, to watch the agent learn. 0: unlimited.",
    ),
    Parameter(
        "metrics_every", "int", 0, min=0, max=10_000_000, unit="episodes", group="Output",
        help="Episodes between two points of a curve. 0: about 500 points per run.",
    ),
    Parameter(
        "policy_every_s", "float", 1.0, min=1.0, max=3600.0, unit="s", group="Output",
        help="Seconds between updates of the heat map and arrows. Default: 1.",
    ),
)  # fmt: skip

_PARAMETERS = (*_LEARNING, *_AGENT, *_OUTPUT, *PARAMETERS)


def _read_page(name: str) -> str:
    """Return the help page of an algorithm."""
    return (_PAGES / f"{name}.md").read_text(encoding="utf-8")


def _make_algorithm(name: str, label: str, doc: str) -> Algorithm:
    return Algorithm(
        id=name,
        label=label,
        doc=doc,
        parameters=_PARAMETERS,
        action_spaces=("discrete",),
        recommended=RECOMMENDED,
        page=_read_page(name),
    )


def describe() -> Descriptor:
    """Return the descriptor, with the help pages of the algorithms."""
    return Descriptor(
        worker="spade_bdi_rl_worker",
        label="Spade BDI Worker",
        version=__version__,
        summary="A BDI agent with beliefs, goals and plans that learns an action-value table.",
        lane="telemetry",
        modes=("train", "play", "evaluate"),
        algorithms=(
            _make_algorithm(
                "q_learning",
                "BDI Q-learning",
                "Off-policy TD control: bootstraps from the maximum value of the next state.",
            ),
            _make_algorithm(
                "double_q_learning",
                "BDI Double Q-learning",
                "Q-learning with two tables, which avoids maximization bias.",
            ),
            _make_algorithm(
                "sarsa",
                "BDI SARSA",
                "On-policy TD control: bootstraps from the action that is taken next.",
            ),
        ),
        environments=Environments(families=("toy-text", "minigrid")),
        supports=Supports(
            policy_load=True,
            warm_start=True,
            pause=True,
            checkpoints=True,
            minimal_telemetry=True,
        ),
        needs=Needs(
            bundle="spade_bdi_rl_worker",
            extras=("minigrid", "wandb"),
            credentials=("WANDB_API_KEY", "MOSAIC_XMPP_PASSWORD", "MOSAIC_XMPP_ACCOUNT"),
        ),
        tabs=("beliefs",),
        licence=(
            "MIT",
            "Its bundle contains agentspeak (GPLv3), which only the worker's own process imports.",
        ),
    )
