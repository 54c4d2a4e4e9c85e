"""TrainingDraft: conversion to a run configuration and back is lossless."""

import json

import pytest

from gym_gui.training.model.training_draft import (
    MINIMAL_TELEMETRY,
    Target,
    TrainingDraft,
    decode_draft,
    encode_draft,
    from_document,
    merge_patch,
    parse_document,
    to_document,
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


def test_a_draft_becomes_a_valid_configuration() -> None:
    """Every field is at its path; unchanged fields are omitted."""
    document = to_document(DRAFT, TARGET, is_minimal=True, default_proxy="http://proxy:3128")
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


def test_implied_extras_are_included() -> None:
    """Unless the user has switched them off."""
    draft = TrainingDraft({"extras": {"hub": True, "video": False}})
    document = to_document(draft, TARGET, is_minimal=False, implied_extras={"atari", "video"})
    assert document["bundle"] == {"extras": ["atari", "hub"]}


def test_a_configuration_survives_the_round_trip() -> None:
    """Fields that the form does not show are preserved."""
    original = to_document(DRAFT, TARGET, is_minimal=False, default_proxy="http://proxy:3128")
    original |= {"priority": 5, "resources": {"cpus": 2}}
    draft = from_document(original)
    assert draft.section("tracking")["proxy"] == "http://proxy:3128"
    assert to_document(draft, TARGET, is_minimal=False) == original


def test_a_saved_draft_is_restored() -> None:
    """An unreadable one is empty."""
    assert decode_draft(encode_draft(DRAFT)) == DRAFT
    for invalid in ("", "{", "[]", '{"values": 3, "rest": []}', '{"values": {"run": 1}}'):
        assert decode_draft(invalid) == TrainingDraft()


def test_pasted_text_that_is_not_a_configuration() -> None:
    """The error has a code and a remedy."""
    for text in ("", "seed = 1", "[1]", "[" * 100_000):
        with pytest.raises(UserError) as raised:
            parse_document(text)
        assert raised.value.code in ("C382", "C383")
        assert raised.value.remedy


def test_a_merge_patch() -> None:
    """Null removes a field, objects are merged."""
    patched = merge_patch({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": None, "e": 4}, "d": None})
    assert patched == {"a": {"c": 2, "e": 4}}


def test_defaults_are_removed_from_a_stored_configuration() -> None:
    """The stored one has every field; the draft has only the changed ones."""
    document = to_document(DRAFT, TARGET, is_minimal=True, default_proxy="http://proxy:3128")
    stored = json.loads(to_json(load_run_config(document)))
    assert without_defaults(stored) == document
    draft = from_document(without_defaults(stored))
    assert draft.other_fields == {}
    assert draft.section("params") == DRAFT.section("params")


def test_values_of_a_wrong_type_are_preserved() -> None:
    """Parameters and extras of a wrong type stay in the document, so that they are rejected."""
    draft = from_document({"params": 5, "bundle": {"extras": "atari"}})
    document = to_document(draft, TARGET, is_minimal=False)
    assert document["params"] == 5
    assert document["bundle"] == {"extras": "atari"}


def test_other_fields_are_described() -> None:
    """A warm start names its run."""
    warm_start = TrainingDraft({}, {"warm_start": "01M7JBVNREGXN7AY9RV7DN8A3G.e174f0c4a7dd"})
    assert warm_start.other_fields_text == "Starts from a checkpoint of run DN8A3G."
    assert TrainingDraft({}, {"priority": 3}).other_fields_text == "Also set: priority."
    assert TrainingDraft().other_fields_text == ""
