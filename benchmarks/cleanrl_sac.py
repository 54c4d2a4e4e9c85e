"""SAC, TD3 or DDPG on Pendulum-v1: ours against CleanRL's script and Stable-Baselines3.

The same hyperparameters; all learn once per step from the first update on. They alternate seed by
seed, so that load affects all alike. Stable-Baselines3 has one learning rate for actor
and critics, and no DDPG with a delayed actor.
"""

import dataclasses
import statistics

from cleanrl_peers import (
    Outcome,
    find_sides,
    print_comparison,
    run_cleanrl,
    run_ours,
    run_sb3,
    sides_parser,
)

_ENV_ID = "Pendulum-v1"
_GOAL = "1.15 at equal or better return"
_LEARNING_STARTS = 1_000
_LAST_EPISODES = 10
"""200 steps each. Early episodes of such a short training do not show its result."""


def main() -> None:
    parser = sides_parser(__doc__, steps=10_000)
    parser.add_argument("--algo", choices=tuple(_FLAGS), default="sac")
    parser.add_argument("--batch-size", type=int, default=256)
    arguments = parser.parse_args()
    sides = find_sides(arguments)
    algo = f"{arguments.algo}_continuous_action"
    outcomes: dict[str, list[Outcome | None]] = {"ours": [], "CleanRL": [], "SB3": []}
    for seed in range(1, arguments.seeds + 1):
        flags = [
            *("--env-id", _ENV_ID, "--total-timesteps", str(arguments.steps)),
            *("--learning-starts", str(_LEARNING_STARTS)),
            *("--batch-size", str(arguments.batch_size), "--seed", str(seed)),
            *_FLAGS[arguments.algo],
        ]
        outcomes["ours"].append(_final_returns(run_ours(sides, algo, flags)))
        outcomes["CleanRL"].append(_final_returns(run_cleanrl(sides, algo, flags)))
        settings = _SB3.get(arguments.algo)
        if settings is not None:
            settings = {**_SB3_SHARED, **settings, "batch_size": arguments.batch_size}
            outcome = run_sb3(
                sides,
                arguments.algo.upper(),
                _ENV_ID,
                steps=arguments.steps,
                seed=seed,
                settings=settings,
            )
            outcomes["SB3"].append(_final_returns(outcome))
        print(
            f"seed {seed}: " + ", ".join(_format(*outcome) for outcome in outcomes.items()),
            flush=True,
        )
    title = f"{arguments.algo}, {_ENV_ID}, {arguments.steps:,} steps"
    print_comparison(title, outcomes, goal=_GOAL)


def _final_returns(outcome: Outcome | None) -> Outcome | None:
    if outcome is None:
        return None
    last = statistics.mean(outcome.returns[-_LAST_EPISODES:])
    return dataclasses.replace(outcome, mean_return=last)


def _format(name: str, outcomes: list[Outcome | None]) -> str:
    newest = outcomes[-1] if outcomes else None
    if newest is None:
        return f"{name} left out"
    return f"{name} {newest.steps_per_s:.0f} steps/s, return {newest.mean_return:.0f}"


# With their default learning rate TD3 and DDPG have learnt little after so few steps.
_FLAGS: dict[str, tuple[str, ...]] = {
    "sac": (),
    "td3": ("--learning-rate", "1e-3"),
    "ddpg": ("--learning-rate", "1e-3"),
}
_SB3_SHARED: dict[str, object] = {
    "learning_rate": 1e-3,
    "buffer_size": 1_000_000,
    "learning_starts": _LEARNING_STARTS,
    "tau": 0.005,
    "gamma": 0.99,
    "train_freq": 1,
    "gradient_steps": 1,
    "net_arch": [256, 256],
    "activation": "ReLU",
}
_SB3: dict[str, dict[str, object]] = {
    "sac": {},
    "td3": {
        "policy_delay": 2,
        "target_policy_noise": 0.2,
        "target_noise_clip": 0.5,
        "action_noise": 0.1,
    },
}


if __name__ == "__main__":
    main()
