"""Old spellings of public names, so that workers written for earlier versions keep running.

`install` makes the modules of `OLD_MODULES` importable. Modules that still exist, but whose names
have changed, use `make_getattr` with `OLD_NAMES`. The mixins hold renamed methods. Type checkers do
not see any of this: new code uses the current names.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, Sequence

_PACKAGE = "mosaic_worker."

OLD_MODULES: dict[str, dict[str, str]] = {
    "environments.made_layer": {
        "made_layer": "environments.inspection:find_made_env",
        "time_limit": "environments.inspection:time_limit",
    },
    "environments.making": {
        "make_environment": "environments.factory:make_environment",
        "resolved_id": "environments.factory:resolved_id",
        "resolved_kwargs": "environments.factory:resolved_kwargs",
    },
    "environments.pace": {"steps_per_second": "environments.inspection:steps_per_second"},
    "flow": {"Flow": "run_control:RunControl"},
    "packages": {"installed_packages": "cli:installed_packages"},
    "pixel_rows": {"in_rows": "frames:make_contiguous"},
    "plain": {
        "Plainer": "json_values:JsonConverter",
        "finite_or_name": "json_values:encode_float",
        "simplify": "json_values:to_json_default",
    },
    "play.pictures": {"Pictures": "play.frame_publisher:FramePublisher"},
    "recording.detail": {
        "ALL": "recording.episode_log:ALL",
        "COLUMNS": "recording.episode_log:COLUMNS",
        "DETAILS": "recording.episode_log:DETAILS",
        "Detail": "recording.episode_log:StepDetail",
        "OFF": "recording.episode_log:OFF",
        "SAMPLED": "recording.episode_log:SAMPLED",
    },
    "recording.environment_line": {
        "environment_fields": "recording.env_metadata:describe_environment"
    },
    "recording.flusher": {"Flusher": "recording.recorder:PeriodicFlusher"},
    "recording.plain_copy": {
        "NotPlainError": "recording.value_copies:NotPlainError",
        "copy_info": "recording.value_copies:copy_info",
        "copy_observation": "recording.value_copies:copy_observation",
    },
    "recording.random_state": {
        "asked_state": "recording.rng_state:query_state",
        "set_state": "recording.rng_state:set_state",
        "state_reader": "recording.rng_state:make_state_reader",
        "state_text": "recording.rng_state:format_state",
    },
    "recording.starts": {
        "capture": "recording.start_states:capture",
        "capturer": "recording.start_states:make_capturer",
        "prepare_reset": "recording.start_states:prepare_reset",
        "restore": "recording.start_states:restore",
        "start_fields": "recording.start_states:start_fields",
    },
    "recording.track": {"Track": "recording.env_trace:EnvTrace"},
    "recording.watchers": {"Watchers": "recording.step_listeners:StepListeners"},
    "resimulation.comparison": {"Comparison": "resimulation.episode_record:RecordComparison"},
    "resimulation.position": {"Position": "resimulation.messages:PositionFile"},
    "tracking.hyperparameters": {
        "hyperparameter_table": "tracking.event_file:hyperparameter_table"
    },
    "tracking.listener": {
        "Listener": "tracking.trackers:TrackingListener",
        "RunListener": "tracking.trackers:RunTrackingListener",
    },
    "tracking.record_file": {
        "RecordFile": "tracking.event_file:RecordFile",
        "crc32c": "tracking.event_file:crc32c",
        "masked_crc32c": "tracking.event_file:masked_crc32c",
    },
    "tracking.wandb_environment": {
        "KEY_VARIABLE": "tracking.wandb_process:KEY_VARIABLE",
        "PROXIES_WITH_PASSWORD": "tracking.wandb_process:PROXIES_WITH_PASSWORD",
        "PROXY_VARIABLES": "tracking.wandb_process:PROXY_VARIABLES",
        "proxy_variables": "tracking.wandb_process:proxy_variables",
        "wandb_environment": "tracking.wandb_process:wandb_environment",
    },
}
"""Names of modules that no longer exist, each with its current module and name."""

OLD_NAMES: dict[str, dict[str, str]] = {
    "frames": {"MOST_SIDE": "frames:MAX_SIDE"},
    "play.actor": {
        "LentActor": "play.actor:BorrowedActor",
        "Part": "play.actor:NamedActor",
    },
    "policy_table": {
        "MOST_ACTIONS": "policy_table:MAX_ACTIONS",
        "MOST_STATES": "policy_table:MAX_STATES",
        "policy_table": "policy_table:make_policy_table",
    },
    "resimulation.simulation": {"Simulation": "resimulation.simulation:EpisodeSimulation"},
    "scalars": {
        "column": "scalars:to_column",
        "count": "scalars:to_count",
        "flag": "scalars:to_bool",
        "number": "scalars:to_number",
        "whole": "scalars:to_int",
        "whole64": "scalars:to_int64",
    },
    "testing": {"DEADLINE_SECONDS": "testing:TIMEOUT_S"},
    "tracking.settings": {"tracked_name": "tracking.settings:make_run_name"},
    "tracking.trackers": {"trackers_of": "tracking.trackers:make_trackers"},
}
"""Old names of modules that still exist."""


def install() -> None:
    """Make the old modules importable. The finder is used only if no module is found."""
    if not any(isinstance(finder, _OldModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(_OldModuleFinder())


def make_getattr(module_name: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that resolves its old names."""
    relative = module_name[len(_PACKAGE) :]
    targets = OLD_NAMES.get(relative) or OLD_MODULES[relative]

    def find(name: str) -> Any:
        if name not in targets:
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - costs start-up time otherwise

        current_module, _, current_name = targets[name].partition(":")
        return getattr(import_module(_PACKAGE + current_module), current_name)

    return find


class _OldModuleFinder:
    """Finder and loader of the modules in `OLD_MODULES`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> Any:
        del path, target
        if not fullname.startswith(_PACKAGE) or fullname[len(_PACKAGE) :] not in OLD_MODULES:
            return None
        from importlib.machinery import ModuleSpec  # noqa: PLC0415 - rarely needed

        loader: Any = self
        return ModuleSpec(fullname, loader)

    def create_module(self, spec: Any) -> ModuleType:
        return ModuleType(spec.name, "An old module; see mosaic_worker.compat.")

    def exec_module(self, module: Any) -> None:
        module.__getattr__ = make_getattr(module.__name__)


class OldRunNames:
    """Old names of `Run`."""

    @property
    def is_told_to_pause(self) -> bool:
        run: Any = self
        return bool(run.is_pause_requested)

    def recorder_of(self, agent_id: str | None) -> Any:
        run: Any = self
        return run.recorder_for(agent_id)


class OldRecorderNames:
    """Old names of `EpisodeRecorder`."""

    def note(self, **fields: Any) -> None:
        recorder: Any = self
        recorder.annotate(**fields)


class OldFramePublisherNames:
    """Old names of `FramePublisher`."""

    def show_beginning(self, fields: Any, seq: int) -> None:
        publisher: Any = self
        publisher.show_start(fields, seq)
