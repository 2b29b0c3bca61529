"""The lexicon: terms in ascending order of their bytes, their frequencies, and the raw forms that they came from.

A raw form is a word as it stands in a text; the analyzer turns raw forms into terms. A finished segment keeps the most
frequent raw form of each term, its surface. A spill keeps all raw forms with their counts, so that the merge of the spills
finds the surfaces that a build without spills would find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sublex.index.components.strings import StringsReader, StringsWriter
from sublex.index.entries import MOST
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter
from sublex.index.offsets import starts_of
from sublex.tools.strings import Strings, end_to_end


class LexiconWriter:
    """Writes `terms`, `surfaces`, `df` and `cf`, and for a spill the raw forms."""

    def __init__(self, folder: FolderWriter):
        self._folder = folder
        self._terms, self._surfaces = StringsWriter(folder, "term"), StringsWriter(folder, "surface")
        self._df, self._cf = folder.collect("df"), folder.collect("cf")

    def add(
        self,
        terms: tuple[np.ndarray, np.ndarray],
        surfaces: tuple[np.ndarray, np.ndarray],
        df: np.ndarray,
        cf: np.ndarray,
    ) -> None:
        """Append terms and their surfaces. The terms must ascend and be greater than all terms added before.

        `terms` and `surfaces` are pairs of arrays: the bytes of all strings end to end, and the size of each string. A
        surface that is equal to its term must be given as an empty string.
        """
        self._terms.add(*terms)
        self._surfaces.add(*surfaces)
        self._df.write(df)
        self._cf.write(cf)

    def put_raw_forms(self, raw_forms: tuple[np.ndarray, np.ndarray], counts: np.ndarray, terms: np.ndarray) -> None:
        """Write all raw forms of a spill.

        `counts` has the number of occurrences of each form, and `terms` the ordinal of its term. The ordinals must ascend.
        """
        StringsWriter(self._folder, "raw").add(*raw_forms)
        self._folder.put("raw_counts", counts.astype(np.uint64))
        self._folder.put("raw_terms", terms.astype(np.uint32))


class LexiconReader:
    """Finds terms and reads their frequencies and raw forms. A term's ordinal is its place in the lexicon."""

    def __init__(self, folder: ComponentFolder, terms: int, docs: int):
        """Read the lexicon of a segment; `terms` and `docs` are the numbers of its terms and documents."""
        self._folder, self._docs = folder, docs
        for name in ("df", "cf"):
            folder.expect(name, UNSIGNED, terms)
        self.terms = StringsReader(folder, "term", terms)

    def find(self, term: str) -> int | None:
        """Return a term's ordinal, or None for an unknown term."""
        wanted = term.encode("utf-8", "surrogatepass")
        ordinal = self.terms.bisect(wanted)
        return ordinal if ordinal < len(self.terms) and self.terms[ordinal] == wanted else None

    def find_all(self, terms: Sequence[str]) -> list[int]:
        """Return the ordinals of terms, -1 for unknown ones."""
        from sublex.index import lexicon_kernels

        wanted, sizes = end_to_end([term.encode(errors="surrogatepass") for term in terms])
        found = np.empty(len(terms), np.int64)
        lexicon_kernels.find_strings(self.terms.data, self.terms.starts, wanted, starts_of(sizes), found)
        return found.tolist()

    @cached_property
    def df(self) -> np.ndarray:
        """The number of documents that hold each term, which is the length of its posting list."""
        return self._folder["df"].numbers(self._docs)

    @cached_property
    def cf(self) -> np.ndarray:
        """The number of occurrences of each term in all documents."""
        return self._folder["cf"].numbers(MOST)

    @cached_property
    def _surfaces(self) -> StringsReader:
        return StringsReader(self._folder, "surface", len(self.terms))

    def surface(self, term: int) -> bytes:
        """Return the most frequent raw form of a term."""
        return self._surfaces[term] or self.terms[term]

    def written(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the most frequent raw form of every term, in three arrays.

        They are the bytes of all forms, the place where each form starts in the bytes, and the size of each form.
        """
        terms, surfaces = (
            Strings(reader.text_data, reader.starts[:-1], np.diff(reader.starts))
            for reader in (self.terms, self._surfaces)
        )
        found = _written(terms, surfaces)
        return found.arena, found.starts, found.sizes

    def raw_forms(self, begin: int, end: int) -> tuple[Strings, np.ndarray, np.ndarray]:
        """Return the stored raw forms of the terms from `begin` up to `end`, with two arrays.

        The first array has the number of occurrences of each form, the second the place of its term in the range. A
        spill stores all raw forms. A finished segment stores only one for each term, the surface; as its number of
        occurrences, it gets that of the term.
        """
        if "raws" not in self._folder:
            surfaces = _written(self.terms.part(begin, end), self._surfaces.part(begin, end))
            return surfaces, self.cf[begin:end].astype(np.int64), np.arange(end - begin)
        first, last = np.searchsorted(self._raw_terms, [begin, end]).tolist()
        counts = self._folder["raw_counts"].part(first, last).astype(np.int64)
        return self._raw_forms.part(first, last), counts, self._raw_terms[first:last].astype(np.int64) - begin

    @cached_property
    def _raw_terms(self) -> np.ndarray:
        """The ordinal of each raw form's term, ascending."""
        self._folder.expect("raw_terms", ("<u4",), len(self._raw_forms))
        self._folder.expect("raw_counts", ("<u8",), len(self._raw_forms))
        terms = self._folder["raw_terms"].all()
        if (terms[1:] < terms[:-1]).any():
            raise self._folder["raw_terms"].damaged("does not ascend")
        return terms

    @cached_property
    def _raw_forms(self) -> StringsReader:
        return StringsReader(self._folder, "raw")


def _written(terms: Strings, surfaces: Strings) -> Strings:
    """Return the surfaces of terms, in which each empty string is replaced by its term.

    A surface that is equal to its term is stored as an empty string.
    """
    own = surfaces.sizes == 0
    starts = np.where(own, terms.starts, len(terms.arena) + surfaces.starts)
    return Strings(np.concatenate([terms.arena, surfaces.arena]), starts, np.where(own, terms.sizes, surfaces.sizes))
