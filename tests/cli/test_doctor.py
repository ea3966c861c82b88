"""``haltwise doctor``: what it says of packages, and the lines to type."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from haltwise.cli import doctor
from haltwise.cli.main import run


def test_every_extra_has_a_purpose() -> None:
    """Each extra of pyproject.toml is described, or named after the framework of an adapter."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    assert set(doctor.PURPOSES) <= {"", *extras}
    adapters = project.parent / "src" / "haltwise" / "adapters"
    for extra in set(extras) - set(doctor.PURPOSES):
        assert list(adapters.glob(f"{extra.replace('-', '_')}*")), f"doctor: what is {extra} for?"


def test_document(capsys: pytest.CaptureFixture[str]) -> None:
    """One document; everything that the tests run with is there."""
    assert run(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "haltwise.doctor/1"
    required = document["groups"][0]
    assert required["ready"]
    assert required["install"] == ""
    assert {"numpy", "click", "msgspec"} <= {p["name"] for p in required["packages"]}


def test_missing_and_old_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing or too old is named with the version asked for, and the line to type."""
    versions = {"numpy": "1.25.2", "click": "8.2.0"}
    monkeypatch.setattr(doctor, "_version", versions.get)
    wanted = ["numpy>=1.26", "click>=8.1", "zstandard>=0.22; extra == 'remote'"]
    monkeypatch.setattr(doctor, "_requirements", lambda: wanted)
    required, remote = doctor.required_groups()
    assert required.missing == ["numpy>=1.26"]
    assert remote.missing == ["zstandard>=0.22"]
    assert "[remote]" in remote.install


def test_exit_code_when_haltwise_cannot_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing required package is exit code 2, and people are told what to type."""
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    assert run(["doctor"]) == 2
    printed = capsys.readouterr().out
    assert "pip install" in printed


def test_extras_that_take_in_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra that names another extra has its packages, and is never called haltwise."""
    wanted = ["zstandard; extra == 'remote'", "haltwise[remote]; extra == 'dev'"]
    monkeypatch.setattr(doctor, "_requirements", lambda: wanted)
    groups = {group.extra: group for group in doctor.required_groups()}
    assert [package.name for package in groups["dev"].packages] == ["zstandard"]


def test_what_live_studies_need(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runner, runtime, weights and sandbox are each named with the line to type."""
    monkeypatch.setattr(doctor, "_version", lambda name: None)
    monkeypatch.setattr("haltwise.judges.weights.cache_folder", lambda: tmp_path)
    monkeypatch.delenv("HALTWISE_EMBEDDED_MODEL", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert run(["doctor", "--json"]) == 2
    live = {need["name"]: need for need in json.loads(capsys.readouterr().out)["live"]}
    assert all(need["found"] is None for need in live.values())
    assert "[study]" in live["Inspect AI"]["note"]
    assert "[embedded]" in live["xllamacpp"]["note"]
    assert "export HALTWISE_EMBEDDED_MODEL=" in live["weights"]["note"]
    assert "sudo apt-get install -y bubblewrap" in live["bubblewrap"]["note"]
