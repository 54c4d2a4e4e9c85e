"""The language check: checked packages are clean, every pattern fires, exceptions need reasons."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[2]


def load_module() -> ModuleType:
    path = REPOSITORY / "setup" / "language.py"
    spec = importlib.util.spec_from_file_location("language", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["language"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


language: Any = load_module()

BANNED_NAMES = {
    r"told|tells?|telling|sa(id|ys?)": ["told", "is_told_to_pause", "tell_result", "Said", "_say"],
    r"wish(es)?|wants?|deeds?|papers": ["PictureWish", "wants", "run_deeds", "Deed", "run_papers"],
    r"minds?": ["mind_feed", "EarlierMinds"],
    r"course|of_late": ["episode_course", "speed_of_late"],
    r"wanted|asked": ["stop_wanted", "asked"],
    r"beats?": ["beat", "on_beat"],
    r"looks?(?!_(up|ahead))": ["_look", "look_again"],
    r"patience": ["patience_s", "_PATIENCE_S"],
    r"whereabouts": ["Whereabouts"],
    r"anew|whoever|nobody|somebody": ["make_anew", "nobody"],
    r"conduct|desk|curtain|greying|dress|calm": ["training_desk", "_raise_curtain", "calm_watch"],
    r"verdicts?|judged?": ["verdict", "judge"],
    r"refusals?|blockages?": ["Refusal", "Blockage"],
    r"news": ["is_news"],
    r"words": ["run_words"],
    r"figures|facts": ["UpdateFigures", "facts"],
    r"stretch(es)?": ["stretch", "read_stretches"],
    r"goes_on|go_on": ["goes_on", "may_go_on"],
    r"^(most|longest|largest|least)(?=_)": ["_MOST_STATES", "LONGEST_WORD", "least_value"],
    r"^note(?=_)": ["_note_finished"],
    r"^take(?=_(?!over))": ["take_values", "_take_in"],
}
ALLOWED_NAMES = [
    "look_up", "lookahead", "heartbeat", "most", "take_over", "notebook", "note", "crossword",
    "keywords", "essays", "dressing", "remind", "at_least",
]  # fmt: skip

BANNED_TEXTS = {
    r"(?<!there\s)(is|are|was|were)\s+no\s+(?!longer\b|more\s+than\b)[a-z]+": [
        "5 is no number", "These are no events.", "It was no whole path",
    ],
    r"told|tells?|telling": ["It is told twice.", "a line tells it", "Tell the daemon."],
    r"wish(es)?|deeds?|papers": ["as you wish", "a good deed", "papers of the run"],
    r"tak(es?|ing)\s+in(?!\s+(a|the|each|order)\b)": [
        "Take in an exported run.", "It takes in lines.",
    ],
    r"the\s+\w+\s+there\s+(are|is)(?=\s*([.,;:|]|$))": ["The runs there are, newest first."],
    r"of\s+late": ["the speed of late"],
    r"anew|whoever|nobody|somebody": ["begins anew", "Nobody is there.", "somebody else's"],
    r"go(es)?\s+on": ["The run goes on.", "Runs go on"],
    r"all\s+the\s+same": ["recorded all the\n    same"],
    r"so\s+(many|long)": ["So many steps.", "for so long"],
    r"stands?\s+still": ["The run stands still."],
    r"by\s+itself": ["ended by itself"],
    r"for\s+good|of\s+all\s+that": ["gone for good", "Of all that is random."],
    r"will\s+not\s+do": ["5.5 will not do"],
}  # fmt: skip
ALLOWED_TEXTS = [
    "There is no file.", "there are no\n    events", "It is no longer there.", "is not a number",
    "as long as it runs", "as many steps", "going online", "papersize is told-off",
    "there was no answer", "It is no more than 5.", "at the end there are none",
]  # fmt: skip


def test_checked_packages_are_clean() -> None:
    """Run `python setup/language.py` for the same list."""
    findings = language.scan(REPOSITORY, language.read_config(REPOSITORY))

    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize(
    ("pattern", "name"),
    [(pattern, name) for pattern, names in BANNED_NAMES.items() for name in names],
)
def test_each_name_pattern_fires(pattern: str, name: str) -> None:
    found = language.check_name(name)

    assert found is not None
    assert found[1] == language.NAME_PATTERNS[pattern]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(pattern, text) for pattern, texts in BANNED_TEXTS.items() for text in texts],
)
def test_each_text_pattern_fires(pattern: str, text: str) -> None:
    found = language.check_text(text)

    assert found is not None
    assert found[1] == language.TEXT_PATTERNS[pattern]


def test_every_pattern_has_an_example() -> None:
    assert set(BANNED_NAMES) == set(language.NAME_PATTERNS)
    assert set(BANNED_TEXTS) == set(language.TEXT_PATTERNS)


@pytest.mark.parametrize("name", ALLOWED_NAMES)
def test_similar_names_are_allowed(name: str) -> None:
    assert language.check_name(name) is None


@pytest.mark.parametrize("text", ALLOWED_TEXTS)
def test_similar_texts_are_allowed(text: str) -> None:
    assert language.check_text(text) is None


def make_checkout(root: Path, config: str, **files: str) -> Path:
    (root / "setup").mkdir()
    (root / "setup" / "language_allowed.toml").write_text(config)
    package = root / "package"
    (package / "tests").mkdir(parents=True)
    for name, source in files.items():
        (package / name.replace("__", "/").replace("_dot_", ".")).write_text(source)
    return root


MODULE = '''\
"""What is told."""
import json as words

class Deed:
    def judge(self, wish: int, *, fine: int = 0) -> None:
        self.news = f"{fine} is no number"  # nobody reads it
        verdict = {"told": "told"}
'''


def scan(root: Path) -> set[tuple[str, int, str]]:
    findings = language.scan(root, language.read_config(root))
    return {(finding.path, finding.line, finding.phrase) for finding in findings}


def test_definitions_and_texts_are_checked(tmp_path: Path) -> None:
    """All definitions, docstrings, strings and comments; keys are not."""
    root = make_checkout(
        tmp_path,
        'checked = ["package"]',
        run_papers_dot_py=MODULE,
        rpc_pb2_dot_py=MODULE,
    )
    path = "package/run_papers.py"

    assert scan(root) == {
        (path, 1, "papers"), (path, 1, "told"), (path, 2, "words"), (path, 4, "deed"),
        (path, 5, "judge"), (path, 5, "wish"), (path, 6, "news"), (path, 6, "is no number"),
        (path, 6, "nobody"), (path, 7, "verdict"),
    }  # fmt: skip


def test_strings_of_tests_are_not_checked(tmp_path: Path) -> None:
    """They are test data; names, docstrings and comments are checked."""
    root = make_checkout(tmp_path, 'checked = ["package"]', tests__test_deeds_dot_py=MODULE)
    path = "package/tests/test_deeds.py"

    assert scan(root) == {
        (path, 1, "deeds"), (path, 1, "told"), (path, 2, "words"), (path, 4, "deed"),
        (path, 5, "judge"), (path, 5, "wish"), (path, 6, "news"), (path, 6, "nobody"),
        (path, 7, "verdict"),
    }  # fmt: skip


def test_markdown_is_checked_outside_of_code(tmp_path: Path) -> None:
    page = "# Told\n\nA `told` field, [told](told.md).\n\n```\nnobody\n```\n\nIt goes on.\n"
    root = make_checkout(tmp_path, 'checked = ["package/page.md"]', page_dot_md=page)

    assert scan(root) == {
        ("package/page.md", 1, "Told"), ("package/page.md", 3, "told"),
        ("package/page.md", 9, "goes on"),
    }  # fmt: skip


def test_packages_that_are_not_listed_are_not_checked(tmp_path: Path) -> None:
    root = make_checkout(tmp_path, "checked = []", run_papers_dot_py=MODULE)

    assert scan(root) == set()
    assert language.scan(root, language.read_config(root), ["package"])


@pytest.mark.parametrize(
    ("entry", "is_allowed"),
    [
        ('path = "package/*.py"', True),
        ('match = "told_by"', True),
        ('path = "package/*"\nmatch = "told_by"', True),
        ('path = "other/*"', False),
        ('match = "told_to"', False),
        ('path = "other/*"\nmatch = "told_by"', False),
    ],
)
def test_exceptions_by_path_and_match(tmp_path: Path, entry: str, is_allowed: bool) -> None:
    config = f'checked = ["package"]\n[[allowed]]\n{entry}\nreason = "A field of the protocol."'
    root = make_checkout(tmp_path, config, module_dot_py="told_by = 1\n")

    assert (scan(root) == set()) is is_allowed


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('[[allowed]]\nmatch = "told"', "needs a `reason`"),
        ('[[allowed]]\nmatch = "told"\nreason = " "', "needs a `reason`"),
        ('[[allowed]]\nreason = "Why not."', "needs `path` or `match`"),
        ('[[allowed]]\nword = "told"\nreason = "Why not."', "unknown key `word`"),
        ('checked = ["gone"]', "gone, which does not exist"),
    ],
)
def test_invalid_configurations_are_rejected(tmp_path: Path, config: str, message: str) -> None:
    root = make_checkout(tmp_path, config)

    with pytest.raises(language.ConfigError, match=message):
        language.read_config(root)


def test_the_scanner_is_checked_itself() -> None:
    assert "setup" in language.read_config(REPOSITORY).checked
