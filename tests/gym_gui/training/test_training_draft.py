"""A draft and the run's configuration: one becomes the other without losing anything."""

import json

import pytest

from gym_gui.training.model.training_draft import (
    MINIMAL_TELEMETRY,
    Target,
    TrainingDraft,
    document_in,
    document_of,
    draft_of,
    draft_text,
    merged,
    remembered_draft,
    without_defaults,
)
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import load_run_config, to_json

TARGET = Target("cleanrl_worker", "ppo", "CartPole-v1", {"sutton_barto_reward": True})
DRAFT = TrainingDraft(
    {
        "run": {"seed": 3, "total_timesteps": 5000},
        "params": {"gamma": 0.9},
        "artifacts": {"tensorboard": False, "video": True, "video_every": 5},
        "tracking": {"wandb": True, "mode": "offline", "use_proxy": True},
        "extras": {"video": True, "atari": False},
        "about": {"run_name": "mine", "tags": "a, b,a", "note": " read me "},
    }
)


def test_a_draft_is_a_configuration_that_the_daemon_takes() -> None:
    """Every field is where it belongs, and what was left alone is left out."""
    document = document_of(DRAFT, TARGET, is_minimal=True, default_proxy="http://proxy:3128")
    config = load_run_config(document)
    assert (config.seed, config.total_timesteps, config.params) == (3, 5000, {"gamma": 0.9})
    assert config.env_kwargs == {"sutton_barto_reward": True}
    assert not config.artifacts.tensorboard.enabled
    assert config.artifacts.video.every_episodes == 5
    assert config.artifacts.wandb.proxy == "http://proxy:3128"
    assert config.bundle is not None
    assert config.bundle.extras == ("video",)
    assert document["telemetry"] == MINIMAL_TELEMETRY
    assert "checkpoints" not in document["artifacts"]
    assert (DRAFT.tags, DRAFT.note) == (("a", "b"), "read me")


def test_extras_that_a_run_needs_anyway() -> None:
    """They are in it, unless a person has taken them out."""
    extras = TrainingDraft({"extras": {"hub": True, "video": False}})
    document = document_of(extras, TARGET, is_minimal=False, implied_extras={"atari", "video"})
    assert document["bundle"] == {"extras": ["atari", "hub"]}


def test_a_configuration_that_comes_back() -> None:
    """What the form has no field for stays in it."""
    given = document_of(DRAFT, TARGET, is_minimal=False, default_proxy="http://proxy:3128")
    given |= {"priority": 5, "resources": {"cpus": 2}}
    draft = draft_of(given)
    assert draft.of("tracking")["proxy"] == "http://proxy:3128"
    assert document_of(draft, TARGET, is_minimal=False) == given


def test_a_remembered_draft() -> None:
    """It is as it was; one that cannot be read is empty."""
    assert remembered_draft(draft_text(DRAFT)) == DRAFT
    for broken in ("", "{", "[]", '{"values": 3, "rest": []}', '{"values": {"run": 1}}'):
        assert remembered_draft(broken) == TrainingDraft()


def test_what_is_pasted_and_is_no_configuration() -> None:
    """It is refused in words."""
    for text in ("", "seed = 1", "[1]", "[" * 100_000):
        with pytest.raises(UserError) as refused:
            document_in(text)
        assert refused.value.code in ("C382", "C383")
        assert refused.value.remedy


def test_a_merge_patch() -> None:
    """Null takes away, objects are gone into."""
    patched = merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": None, "e": 4}, "d": None})
    assert patched == {"a": {"c": 2, "e": 4}}


def test_a_stored_configuration_as_somebody_would_write_it() -> None:
    """It has every field; a draft made of it has only those that say something."""
    document = document_of(DRAFT, TARGET, is_minimal=True, default_proxy="http://proxy:3128")
    stored = json.loads(to_json(load_run_config(document)))
    assert without_defaults(stored) == document
    again = draft_of(without_defaults(stored))
    assert again.rest == {}
    assert again.of("params") == DRAFT.of("params")


def test_what_is_no_such_thing_is_not_dropped() -> None:
    """Parameters and extras of a wrong kind stay in the document, which is refused for them."""
    draft = draft_of({"params": 5, "bundle": {"extras": "atari"}})
    document = document_of(draft, TARGET, is_minimal=False)
    assert document["params"] == 5
    assert document["bundle"] == {"extras": "atari"}


def test_what_has_no_field_is_told_in_words() -> None:
    """A draft that trains on says of which run, before it is launched."""
    trains_on = TrainingDraft({}, {"warm_start": "01M7JBVNREGXN7AY9RV7DN8A3G.e174f0c4a7dd"})
    assert trains_on.rest_in_words == "Begins with what run DN8A3G had learned."
    assert TrainingDraft({}, {"priority": 3}).rest_in_words == "Set without a field here: priority."
    assert TrainingDraft().rest_in_words == ""
