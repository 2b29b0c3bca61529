"""The settings of a build, which each step of the build gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sublex.contracts.base import Analyzer
from sublex.contracts.fields import content_fields
from sublex.index.schema import ABSENT


class BuildSettings(NamedTuple):
    """The settings of a build.

    `store` names the optional parts of the index. `memory` is in bytes. `duplicates` is one of `RULES`. `columns` has
    the types of columns by name. `fields` has the names of the named fields.
    """

    analyzer: Analyzer
    store: frozenset[str]
    workers: int
    memory: int
    duplicates: str
    columns: Mapping[str, str] = ABSENT
    fields: tuple[str, ...] = ()

    @property
    def contents(self) -> tuple[str, ...]:
        """The content fields if the frequencies of fields are stored, otherwise empty."""
        return content_fields(self.fields) if self.fields else ()

    @property
    def located(self) -> tuple[str, ...]:
        """The content fields for which the build has to know where their raw tokens end; empty if it need not know.

        The ends are needed to count terms in fields, and to leave gaps between the positions of fields.
        """
        return self.contents or (content_fields(()) if "positions" in self.store else ())
