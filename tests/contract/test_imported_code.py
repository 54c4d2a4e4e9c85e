"""Which parts of an imported configuration name code, and that they are withheld and restored."""

from typing import Any

import pytest

from mosaic.contract.imported_code import describe_code, restore_code, withhold_code
from mosaic.contract.run_config import load_run_config

_PLAIN: dict[str, Any] = {
    "worker": "echo_worker",
    "algo": "echo",
    "env_id": "Echo-v0",
    "params": {"steps": 3},
}


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ({"python_path": ["../01J/files"]}, 'python_path: ["../01J/files"]'),
        ({"params": {"script": "evil:Actor"}}, "params.script: evil:Actor"),
        ({"params": {"bot": "/x/evil.py:Bot"}}, "params.bot: /x/evil.py:Bot"),
        ({"actor": "scripted:../evil.PY:Bot"}, "actor: scripted:../evil.PY:Bot"),
        ({"extra_args": {"files": ["a", "b.py"]}}, 'extra_args.files: ["a","b.py"]'),
        (
            {"metadata": {"sweep": {"base": {"python_path": ["/x"]}}}},
            'metadata.sweep.base.python_path: ["/x"]',
        ),
        ({"metadata": {"list": [{"script": "x"}]}}, 'metadata.list: [{"script":"x"}]'),
    ],
)
def test_code_is_withheld_and_restored(code: dict[str, Any], line: str) -> None:
    """Wherever it is named; the rest of the configuration stays."""
    config = {**_PLAIN, **code, "params": {**_PLAIN["params"], **code.get("params", {})}}
    safe, withheld = withhold_code(config)
    assert describe_code(withheld) == (line,)
    assert safe["params"]["steps"] == 3
    assert withhold_code(safe) == (safe, {})
    assert restore_code(safe, withheld) == config


def test_a_configuration_without_its_script_is_valid() -> None:
    """It can be shown, and its algorithm says what is missing."""
    config = {"worker": "cleanrl_worker", "env_id": "CartPole-v1", "script": "/x/train.py"}
    safe, withheld = withhold_code(config)
    assert load_run_config(safe).algo == "withheld-script"
    assert restore_code(safe, withheld) == {**config, "algo": None}


def test_an_ordinary_configuration_names_no_code() -> None:
    """Empty fields and names that only resemble a Python file are not withheld."""
    config = {**_PLAIN, "python_path": [], "script": None, "run_name": "copy of py.test"}
    assert withhold_code(config) == (config, {})
