"""The folder of compiled code: Numba reads its files by pickle, so one that others may write to is refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sublex.tools import private_folder
from sublex.tools.private_folder import why_shared

SUBLEX = [sys.executable, "-m", "sublex"]
OTHER = 54_321


@pytest.fixture
def fresh():
    """Forget what was found out about folders, whose modes these tests change."""
    for function in (private_folder._chain, private_folder._parents, private_folder._is_own_group):
        function.cache_clear()


@pytest.fixture
def owners(monkeypatch):
    """Return a dictionary of owners and groups by path, which `lstat` shows in place of the real ones."""
    given: dict[str, tuple[int, int]] = {}
    real = os.lstat

    def lstat(path):
        status = real(path)
        user, group = given.get(str(path), (status.st_uid, status.st_gid))
        return os.stat_result((*status[:4], user, group, *status[6:10]))

    monkeypatch.setattr(private_folder.os, "lstat", lstat)
    return given


def made(path: Path, mode: int) -> Path:
    path.mkdir(parents=True)
    path.chmod(mode)
    return path


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    "mode, above, why",
    [
        (0o755, 0o755, ""), (0o700, 0o700, ""), (0o555, 0o755, ""), (0o700, 0o1777, ""), (0o777, 0o700, "everybody may write"),
        (0o757, 0o755, "everybody may write"), (0o1777, 0o755, "everybody may write"), (0o755, 0o777, "everybody may write"),
        (0o755, 0o757, "everybody may write"),
    ],
)  # fmt: skip
def test_modes_of_the_folder_and_of_those_above_it(tmp_path, mode, above, why):
    top = made(tmp_path / "above", above)
    folder = made(top / "cache", mode)
    found = why_shared(folder)
    assert why in found and bool(why) == bool(found)
    assert bool(why_shared(folder / ".")) == bool(why)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("which", ["cache", "above"])
def test_a_folder_of_another_user_is_shared(tmp_path, owners, which):
    folder = made(tmp_path / "above" / "cache", 0o755)
    place = folder if which == "cache" else folder.parent
    owners[str(place)] = (OTHER, 0)
    assert why_shared(folder) == f"{place} belongs to user {OTHER}"
    owners[str(place)] = (0, 0)
    private_folder._chain.cache_clear()
    private_folder._parents.cache_clear()
    assert why_shared(folder) == ""


@pytest.mark.usefixtures("fresh")
def test_a_sticky_folder_protects_only_entries_of_this_user(tmp_path, owners):
    top = made(tmp_path / "tmp", 0o1777)
    folder = made(top / "cache", 0o700)
    owners[str(folder)] = (OTHER, 0)
    assert "belongs to" in why_shared(folder)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("group, shared", [("lab", True), ("me", False)])
def test_a_group_is_no_other_if_it_is_the_private_group_of_the_user(tmp_path, monkeypatch, group, shared):
    folder = made(tmp_path / "cache", 0o775)

    class Named:
        gr_name, pw_name, gr_mem = group, "me", []

    monkeypatch.setattr(private_folder.grp, "getgrgid", lambda number: Named)
    monkeypatch.setattr(private_folder.pwd, "getpwuid", lambda number: Named)
    monkeypatch.setattr(private_folder.os, "lstat", _with_group(os.lstat, str(folder), 4321))
    assert ("a group may write" in why_shared(folder)) == shared


def _with_group(real, path, group):
    def lstat(place):
        status = real(place)
        return os.stat_result((*status[:5], group if str(place) == path else status.st_gid, *status[6:10]))

    return lstat


@pytest.mark.usefixtures("fresh")
def test_links_on_the_way_are_followed_and_looked_at(tmp_path):
    shared, own = made(tmp_path / "shared", 0o777), made(tmp_path / "own", 0o755)
    made(shared / "cache", 0o755)
    made(own / "cache", 0o755)
    (own / "link").symlink_to(shared / "cache")
    (shared / "link").symlink_to(own / "cache")
    assert "shared" in why_shared(own / "link") and "shared" in why_shared(shared / "link")
    (own / "again").symlink_to(own / "cache")
    assert why_shared(own / "again") == ""


@pytest.mark.usefixtures("fresh")
def test_a_folder_beside_the_source_adds_nobody_to_those_who_may_change_the_source(tmp_path):
    source = made(tmp_path / "source", 0o777)
    folder = made(source / "__pycache__", 0o777)
    assert why_shared(folder, beside_source=True) == ""
    source.chmod(0o755)
    assert "everybody may write" in why_shared(folder, beside_source=True)
    folder.chmod(0o755)
    assert why_shared(folder, beside_source=True) == ""


def test_commands_refuse_a_shared_folder_in_one_sentence(tmp_path):
    shared = made(tmp_path / "shared", 0o777)
    (tmp_path / "d.jsonl").write_text('{"id": "a", "text": "crane"}\n')
    for command in (("index", "./papers", "d.jsonl"), ("warmup",)):
        done = subprocess.run(
            [*SUBLEX, *command], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
            env=os.environ | {"NUMBA_CACHE_DIR": str(shared), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        sentence = done.stderr.splitlines()[-1]
        assert done.returncode == 2 and "Traceback" not in done.stderr, done
        assert sentence.startswith(f"sublex: The compiled code in {shared}") and "set NUMBA_CACHE_DIR" in sentence
    assert not (tmp_path / "papers").exists()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o777
