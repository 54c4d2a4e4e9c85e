"""DQN on CartPole-v1: ours against CleanRL's script and Stable-Baselines3, same hyperparameters.

They alternate seed by seed, so that load on the machine affects all alike.
"""

from cleanrl_peers import (
    Outcome,
    find_sides,
    print_comparison,
    run_cleanrl,
    run_ours,
    run_sb3,
    sides_parser,
)

_ENV_ID = "CartPole-v1"
_GOAL = "1.5 at equal or better return"


def main() -> None:
    arguments = sides_parser(__doc__, steps=100_000).parse_args()
    sides = find_sides(arguments)
    outcomes: dict[str, list[Outcome | None]] = {"ours": [], "CleanRL": [], "SB3": []}
    for seed in range(1, arguments.seeds + 1):
        size = ("--env-id", _ENV_ID, "--total-timesteps", str(arguments.steps))
        flags = (*size, "--seed", str(seed))
        # All other flags have the same defaults.
        outcomes["ours"].append(run_ours(sides, "dqn", flags))
        outcomes["CleanRL"].append(run_cleanrl(sides, "dqn", flags))
        outcomes["SB3"].append(
            run_sb3(sides, "DQN", _ENV_ID, steps=arguments.steps, seed=seed, settings=_SB3)
        )
        print(
            f"seed {seed}: " + ", ".join(_format(*outcome) for outcome in outcomes.items()),
            flush=True,
        )
    print_comparison(f"DQN, {_ENV_ID}, {arguments.steps:,} steps", outcomes, goal=_GOAL)


def _format(name: str, outcomes: list[Outcome | None]) -> str:
    newest = outcomes[-1]
    if newest is None:
        return f"{name} left out"
    return f"{name} {newest.steps_per_s:.0f} steps/s, return {newest.mean_return:.1f}"


_SB3: dict[str, object] = {
    "learning_rate": 2.5e-4,
    "buffer_size": 10_000,
    "learning_starts": 10_000,
    "batch_size": 128,
    "tau": 1.0,
    "gamma": 0.99,
    "train_freq": 10,
    "gradient_steps": 1,
    "target_update_interval": 500,
    "exploration_fraction": 0.5,
    "exploration_initial_eps": 1.0,
    "exploration_final_eps": 0.05,
    "max_grad_norm": 1e9,
    "net_arch": [120, 84],
    "activation": "ReLU",
}


if __name__ == "__main__":
    main()
