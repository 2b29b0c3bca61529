"""What the tests share."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from command import Done, invoke
from hypothesis import settings
from shared import DEMO, PLUGINS, ROOT
from strategies import examples

import sublex as engine
from sublex.language import plugins
from sublex.pipeline.index import Index

# What a shell runs in the background ignores interrupts, and so does whatever it starts; some tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes run the tests: as many as there are processors, none beside this one for single files."""
    if any(".py" in argument for argument in config.args):
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of real collections, those that run Java, and those of single plugins as slow."""
    for item in items:
        if {"collections", "lucene_folders"} & set(
            getattr(item, "fixturenames", ())
        ) or item.path.parent.parent.name == "plugins":
            item.add_marker(pytest.mark.slow)


# The first example of a property may compile a kernel, which no deadline foresees.
settings.register_profile("sublex", deadline=None, max_examples=examples(100))
settings.load_profile("sublex")


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Do not wait for the disk: a killed process leaves what it wrote, and only a power cut would lose it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="module")
def plugins_loaded_once() -> Iterator[None]:
    """Find the installed plugins once for a whole file of tests, which spares each open index 10 milliseconds."""
    registry = plugins.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "load", lambda: registry)
        yield


@pytest.fixture(scope="session")
def collections() -> Path:
    """The folder of real test collections: $SUBLEX_COLLECTIONS, else shared/collections beside the repository."""
    folder = Path(os.environ.get("SUBLEX_COLLECTIONS") or ROOT.parent / "shared" / "collections")
    if not folder.is_dir():
        pytest.skip("collections are not here")
    return folder


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """A function that runs `sublex ARGUMENTS` in an empty folder and returns (exit code, output, messages)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "indexes").mkdir()
    for name in ("SUBLEX_INDEXES", "SUBLEX_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    return invoke


@pytest.fixture
def sublex(command: Callable[..., Done]) -> Callable[..., Done]:
    """The function `command` under the program's own name."""
    return command


@pytest.fixture(scope="session")
def built_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of the demo collection. Tests copy it or only read it."""
    folder = tmp_path_factory.mktemp("built") / "demo"
    engine.build(DEMO, folder)
    return folder


@pytest.fixture
def demo(command: Callable[..., Done], built_demo: Path) -> Callable[..., Done]:
    """The function `command`, in a folder that holds the demo collection as the index `demo`."""
    shutil.copytree(built_demo, "indexes/demo")
    return command


@pytest.fixture
def index(tmp_path: Path, built_demo: Path) -> Index:
    """An index of the demo collection, for one test to read and change."""
    shutil.copytree(built_demo, tmp_path / "demo")
    return engine.open(tmp_path / "demo")


@pytest.fixture
def projection(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Install the plugins of tests/plugins/samples beside those of Sublex; return the module of one, to be tampered with."""
    monkeypatch.syspath_prepend(PLUGINS)
    points = sorted(
        plugins.entry_points(group=plugins.GROUP), key=lambda point: not point.value.startswith(plugins.BUILT_IN)
    )
    points += [EntryPoint(name, name, plugins.GROUP) for name in ("projection", "neighbours")]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))
    import projection

    return projection
