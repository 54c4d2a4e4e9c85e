"""What the worker says about itself. The standard library and the SDK are all it needs."""

from __future__ import annotations

from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports
from mosaic_worker.play import PARAMETERS
from spade_bdi_rl_worker import __version__
from spade_bdi_rl_worker.presets import RECOMMENDED

_PAGES = Path(__file__).parent / "pages"
_UNSET = "Not set: what suits the environment."

_LEARNING = (
    Parameter(
        "learning_rate", "float", None, min=0.0, max=1.0, group="Learning",
        help=f"How far a value moves towards what a step has shown, at the beginning. {_UNSET}",
        search=(0.01, 1.0), log=True,
    ),
    Parameter(
        "learning_rate_end", "float", None, min=0.0, max=1.0, group="Learning",
        help="The same at the end; in between it goes straight. On slippery ground a small one"
        f" averages chance out. {_UNSET}",
        search=(0.001, 0.5), log=True,
    ),
    Parameter(
        "discount", "float", None, min=0.0, max=1.0, group="Learning",
        help=f"What a reward is worth one step later. {_UNSET}",
        search=(0.9, 0.9999),
    ),
    Parameter(
        "initial_value", "float", None, min=-1e9, max=1e9, group="Learning",
        help="What every action is believed to be worth before it is tried. More than can be had"
        f" (an optimistic start) makes the agent try everything. {_UNSET}",
    ),
    Parameter(
        "max_episode_steps", "int", 0, min=0, max=100_000_000, unit="steps", group="Learning",
        help="An episode is cut after so many. 0: the environment's own limit, and 2,000 where it"
        " has none, because actions that are best so far can lead in circles.",
    ),
    Parameter(
        "epsilon_start", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Share of random actions at the beginning. {_UNSET} A warm start then begins with"
        " 0.1 at most, or with that of the end, because much is known already.",
        search=(0.1, 1.0),
    ),
    Parameter(
        "epsilon_end", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Share of random actions at the end. {_UNSET}",
        search=(0.0, 0.2),
    ),
    Parameter(
        "epsilon_fraction", "float", None, min=0.0, max=1.0, group="Exploration",
        help=f"Share of the training after which the share of random actions is the last. {_UNSET}",
        search=(0.1, 1.0),
    ),
    Parameter(
        "epsilon_schedule", "choice", "linear",
        choices=("linear", "exponential", "constant"), group="Exploration",
        help="How the share of random actions falls: straight, by the same factor from episode to"
        " episode, or not at all.",
    ),
)  # fmt: skip

_AGENT = (
    Parameter(
        "asl", "str", "", group="Agent",
        label="Plan file (.asl)",
        help="The whole path of an AgentSpeak file with plans of your own. Empty: the plans that"
        " come with the worker.",
    ),
    Parameter(
        "team", "choice", "alone", choices=("alone", "coach", "pair"), group="Agent",
        help="Alone; with a coach that sets the goals; or two learners that share what they know.",
    ),
    Parameter(
        "xmpp", "str", "", group="Agent",
        label="Messages (XMPP)",
        help="The way that agents exchange them. Empty: inside the worker, without a server."
        " `embedded`: a server of its own on this machine. `host:port`: one that is there already.",
    ),
    Parameter(
        "batch_episodes", "int", 0, min=0, max=1_000_000, unit="episodes", group="Agent",
        help="Learnt before the agent thinks again. 0: a 200th of the run, 500 at most.",
    ),
    Parameter(
        "evaluate_every", "int", 0, min=0, max=100_000_000, unit="episodes", group="Agent",
        help="Learnt between two evaluations. 0: the plans decide.",
    ),
    Parameter(
        "evaluation_episodes", "int", 100, min=1, max=1_000_000, unit="episodes", group="Agent",
        help="Played without exploring in an evaluation.",
    ),
    Parameter(
        "goal_success_rate", "float", None, min=0.0, max=1.0, group="Agent",
        help=f"Share of successes in an evaluation with which the goal is reached. {_UNSET}",
    ),
    Parameter(
        "stop_when_reached", "bool", False, group="Agent",
        help="End the training when the goal is reached, also before its last episode.",
    ),
)  # fmt: skip

_OUTPUT = (
    Parameter(
        "steps_per_second", "float", 0.0, min=0.0, max=1e9, unit="steps/s", group="Output",
        help="At most so fast, to watch it learn. 0: as fast as it can.",
    ),
    Parameter(
        "metrics_every", "int", 0, min=0, max=10_000_000, unit="episodes", group="Output",
        help="Points of the curves. 0: about 500 of them.",
    ),
    Parameter(
        "policy_every_s", "float", 1.0, min=1.0, max=3600.0, unit="s", group="Output",
        help="How often the table is told, for the heat map and the arrows.",
    ),
)  # fmt: skip

_ALL = (*_LEARNING, *_AGENT, *_OUTPUT, *PARAMETERS)


def _page(name: str) -> str:
    """A longer help."""
    return (_PAGES / f"{name}.md").read_text(encoding="utf-8")


def _algorithm(name: str, label: str, doc: str) -> Algorithm:
    return Algorithm(
        id=name,
        label=label,
        doc=doc,
        parameters=_ALL,
        action_spaces=("discrete",),
        recommended=RECOMMENDED,
        page=_page(name),
    )


def describe() -> Descriptor:
    """Reads the pages of the algorithms."""
    return Descriptor(
        worker="spade_bdi_rl_worker",
        label="Spade BDI Worker",
        version=__version__,
        summary="A BDI agent with beliefs, goals and plans learns with a table, and shows it all.",
        lane="telemetry",
        modes=("train", "play", "evaluate"),
        algorithms=(
            _algorithm(
                "q_learning",
                "BDI Q-learning",
                "Learns what is best from the best that may follow, whatever is done next.",
            ),
            _algorithm(
                "double_q_learning",
                "BDI Double Q-learning",
                "Two tables, so that chance is not mistaken for worth.",
            ),
            _algorithm(
                "sarsa",
                "BDI SARSA",
                "Learns what is best for somebody who goes on exploring: keeps a safe distance.",
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
            "Its bundle holds agentspeak (GPLv3), which only the worker's own process imports.",
        ),
    )
