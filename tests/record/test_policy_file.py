"""Policy files: written, read, and used wherever a policy is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.core.errors import ExpressionError, InputError
from haltwise.core.expression import parse_policy
from haltwise.core.noise import NoiseModel
from haltwise.record.policy_file import (
    PolicyFile,
    load_policy,
    loader,
    read_policy_file,
    write_policy_file,
)

NOISE = NoiseModel(0.3, 0.2, 0.1, 0.05, 0.7, 0.1, alpha_by_round=(0.2, 0.1))


def test_round_trip(tmp_path: Path) -> None:
    """A policy file is read back equal, the by-round lists and the evidence included."""
    content = PolicyFile("repair", "never", {"noise": NOISE}, {"n": 3, "rho0": {"low": 0.1}})
    write_policy_file(tmp_path / "p.toml", content)
    assert read_policy_file(tmp_path / "p.toml") == content


def test_expression_or_file(tmp_path: Path) -> None:
    """An expression and a file that holds it load to the same policy."""
    write_policy_file(tmp_path / "p.toml", PolicyFile("search", "streak(5) | deadline(8)"))
    expected = parse_policy("streak(5) | deadline(8)")
    assert load_policy("streak(5) | deadline(8)") == expected
    assert load_policy(str(tmp_path / "p.toml")) == load_policy(tmp_path / "p.toml") == expected


def test_defaults_fill_what_is_left_out(tmp_path: Path) -> None:
    """A default fills a parameter that neither the expression nor the file gives."""
    write_policy_file(tmp_path / "p.toml", PolicyFile("search", "streak"))
    assert load_policy(tmp_path / "p.toml", defaults={"k": 4}) == parse_policy("streak(4)")
    assert load_policy("streak(2)", defaults={"k": 4}) == parse_policy("streak(2)")


def test_loader_is_relative_to_its_folder(tmp_path: Path) -> None:
    """A file name inside an expression is looked for in the folder that the loader was given."""
    write_policy_file(tmp_path / "p.toml", PolicyFile("repair", "never", {"noise": NOISE}))
    assert loader(tmp_path)("p.toml") == {"noise": NOISE}


GOOD = 'schema = "haltwise.policy/1"\nkind = "search"\npolicy = "streak(5)"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = \nx", "not a TOML file.*line 1"),
        ('kind = "search"', 'a line is missing; add at the top: schema = "haltwise.policy/1"'),
        (GOOD.replace("policy/1", "policy/9"), 'schema is "haltwise.policy/1"; got'),
        (GOOD.replace('kind = "search"', ""), 'add at the top: kind = "search"'),
        (GOOD.replace('policy = "streak(5)"', ""), 'add at the top: policy = "streak'),
        (GOOD.replace("search", "both"), 'kind is "search" or "repair"; got \'both\''),
        (GOOD.replace('"streak(5)"', "5"), "policy is an expression"),
        (GOOD + "polcy = 1", "unknown key 'polcy'"),
        (GOOD + "noise = 1", r"\[noise\] is a table"),
        (GOOD + "[noise]\nrho0 = 2", "noise: "),
        (GOOD.replace("search", "repair"), 'kind is "repair", but streak'),
        (GOOD.replace("streak(5)", "streak(0)"), "p.toml: policy: .*at least 1"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    """Each fault in a file is one clear error that names the file."""
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_policy(path)
    assert str(path) in str(error.value)


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file names the command that writes one; a folder and a binary file are named."""
    with pytest.raises(InputError, match="haltwise calibrate"):
        load_policy(tmp_path / "none.toml")
    (tmp_path / "dir.toml").mkdir()
    with pytest.raises(InputError, match=r"dir.toml: cannot be read"):
        load_policy(tmp_path / "dir.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load_policy(tmp_path / "binary.toml")
    with pytest.raises(InputError, match="cannot be written"):
        write_policy_file(tmp_path / "no" / "p.toml", PolicyFile("search", "never"))
    with pytest.raises(ExpressionError):
        load_policy("streak(")


@pytest.mark.parametrize("name", ["policy.toml", "my policy.toml", "policy.txt", "files/policy"])
def test_a_file_name_is_no_expression(name: str) -> None:
    """Who gives parse_policy a file name is sent to load_policy, and told how a file is called."""
    with pytest.raises(ExpressionError, match=r"ends in \.toml and is read with load_policy"):
        parse_policy(name)
    if not name.endswith(".toml"):
        with pytest.raises(ExpressionError, match=r"ends in \.toml"):
            load_policy(name)


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("recovery", 'recovery needs recovery; type recovery("policy.toml")'),
        ("streak(5) | recovery", 'type recovery("policy.toml")'),
        ("lookahead", 'lookahead needs noise; type lookahead("policy.toml")'),
        ("vrr_stop", "vrr_stop(noise(rho0=.3, "),
    ],
)
def test_a_missing_fit_says_what_to_type(text: str, example: str) -> None:
    """The message holds an example for the rule that was typed."""
    with pytest.raises(ExpressionError) as error:
        parse_policy(text)
    assert example in str(error.value)


def test_the_example_that_the_message_gives_is_a_policy() -> None:
    """What the message says to type parses."""
    noise = "noise(rho0=.3, rho1=.2, alpha=.4, beta=.1, valid=.5)"
    assert parse_policy(f"lookahead({noise})").kind == "repair"
