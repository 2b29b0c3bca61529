"""Impacts kept on disk: which rankers' impacts are stored, and computing them again for the current generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from sublex.errors import IndexProblem, InputError, SublexError
from sublex.index.directory import Directory
from sublex.language.parser import parse
from sublex.language.plugins import NO_DEFAULTS, Component
from sublex.pipeline.compose import Composer
from sublex.retrieval import impact_store
from sublex.retrieval.searcher import Searcher


def keep(composer: Composer, rankers: Sequence[str]) -> None:
    """Store the impacts of these rankers, given by their printed forms, and remove those of all others."""
    impact_store.declare(composer.snapshot.path, rankers)
    problems: list[str] = []
    refresh(composer, problems.append)
    if problems:
        raise IndexProblem(problems[0])


def refresh(composer: Composer, say: Callable[[str], None]) -> None:
    """Compute the impacts of the chosen rankers for this snapshot. The index is committed by now, so a failure is only reported."""
    folders = set()
    for name in impact_store.declared(composer.snapshot.path):
        try:
            searcher = _searcher(composer, name)
            searcher.store()
            folders.add(searcher.folder)
        except SublexError as error:
            say(f"The impacts of {name} cannot be stored. {error}")
    impact_store.remove_others(composer.snapshot, folders)


def sizes(composer: Composer) -> dict[str, int]:
    """Return the bytes on disk of each chosen ranker's impacts, and of the documents of all postings, which they share."""
    folders: dict[str, list[Directory]] = {}
    for name in impact_store.declared(composer.snapshot.path):
        with suppress(SublexError):
            folders[name] = [_searcher(composer, name).folder]
    if folders:
        snapshot = composer.snapshot
        folders["documents"] = [impact_store.documents_folder(snapshot, segment) for segment in snapshot.segments]
    return {name: sum(folder.nbytes() for folder in group) for name, group in folders.items()}


def _searcher(composer: Composer, name: str) -> Searcher:
    """Return the searcher of a ranker, given by its printed form.

    That form omits values equal to Sublex's own defaults, so it is read without the index's profile, which may have other
    defaults.
    """
    ranker = composer.resolve(parse(name), NO_DEFAULTS)
    if not isinstance(ranker, Component) or ranker.kind != "ranker":
        raise InputError(f"{name} is not a single ranker.")
    return composer.searcher(ranker)
