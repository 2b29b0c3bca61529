"""For a word that no document contains, find the indexed word that is spelt most like it.

The analyzer's terms are compared, so a stemmed index works too; the answer is the surface, the form that documents
write. The distance of two words is the least number of edits; an edit inserts, deletes or replaces a byte, or swaps
two neighbours. NumPy compares all terms at once.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from sublex.analysis.folding import fold
from sublex.analysis.latex import spellings
from sublex.analysis.tokens import located_terms, reads_latex, terms_of, words_by_terms
from sublex.index.snapshot import Snapshot, Term

# Pairs of a length and a distance. A word of at least this length in letters gets suggestions up to this distance. Shorter
# words get no suggestion.
LIMITS = ((3, 1), (5, 2))
# The least likeness of two words as they are written: 2 times the matching letters, over all letters.
LEAST_LIKENESS = 0.7
# Spellings in LaTeX are tried for words of at most LONGEST_IN_LATEX characters. For a word without accents, at least
# the share TOGETHER of the documents with the rarest piece of a spelling must have all of its pieces.
LONGEST_IN_LATEX, TOGETHER = 40, 0.8
# In each segment, the frequencies of this number of nearest terms are compared.
NEAREST = 50
# The largest number of strings whose beginnings are compared.
COMPARED = 1 << 13


class Correction(NamedTuple):
    """The words that documents have in place of a word that no document contains.

    `options` names the options of an analyzer with which the user's word would have found these words, and `reason` says
    what the options do. Both are empty if the user's word is only misspelt.
    """

    words: str
    options: str = ""
    reason: str = ""


def correction(snapshot: Snapshot, term: str, word: str) -> Correction | None:
    """Return the words that documents have in place of a word that no document contains; None if no words are like it.

    `word` is the word as the user wrote it, and `term` the analyzer's term of it. The words that documents have are the
    same word with other accents, the word as LaTeX writes it, or the word that is spelt most like it.
    """
    if near := folded_term(snapshot, term, word):
        folded = fold(word.lower())
        return Correction(
            folded if snapshot.analyze(folded) == [near.term] else near.surface, "fold=true", "finds both"
        )
    if latex := latex_words(snapshot, word):
        return latex
    alike = near_term(snapshot, term, word)
    return Correction(alike.surface) if alike else None


def suggestions(snapshot: Snapshot, text: str) -> dict[str, Term]:
    """Return the words of a text that no document contains, each with the indexed word that is spelt most like it.

    Words without a similar indexed word are left out.
    """
    found: dict[str, Term] = {}
    for _, raw, terms in located_terms(snapshot.analyzer, text):
        for term in terms:
            word = raw if len(terms) == 1 else term
            if word not in found and snapshot.term(term) is None:
                near = folded_term(snapshot, term, word) or near_term(snapshot, term, word)
                if near:
                    found[word] = near
    return found


def near_term(snapshot: Snapshot, term: str, word: str) -> Term | None:
    """Return the term that is spelt most like `term`. The user wrote `term` as `word`. Return None for a term with digits."""
    if any(map(str.isdigit, term)):
        return None
    near = nearest_term(snapshot, term, len(word))
    # Two words may be written differently although their stems are alike.
    alike = near and SequenceMatcher(None, word.casefold(), near.surface.casefold()).ratio() >= LEAST_LIKENESS
    return near if alike else None


def folded_term(snapshot: Snapshot, term: str, word: str) -> Term | None:
    """Return the most frequent term that differs from `term`, the term of `word`, only by accents on letters, or None.

    A stemmer may treat a word without its accents in another way, so the stems of the folded words are compared too.
    """
    wanted = {fold(term), *snapshot.analyze(fold(word.lower()))}
    if len(fold(term)) < 2 or len(wanted) > 2 or not all(map(str.isascii, wanted)):
        return None
    near, shortest, longest = set(wanted), min(map(len, wanted)), max(map(len, wanted))
    firsts = [ord(form[0]) for form in wanted]
    for segment in snapshot.segments:
        terms, numbers = segment.terms, segment.terms.accented
        # A letter with an accent takes two or three bytes, and stands for one letter or two.
        sizes, first = terms.sizes[numbers], terms.data[terms.starts[numbers]]
        fits = (sizes > shortest) & (sizes <= 3 * longest) & (np.isin(first, firsts) | (first >= 128))
        written = terms.texts_of(numbers[fits])
        folded = list(map(fold, written))
        stems = terms_of(snapshot.analyzer, folded) if folded else []
        near.update(other for other, *forms in zip(written, folded, stems, strict=True) if not wanted.isdisjoint(forms))
    found = [known for known in map(snapshot.term, near - {term}) if known]
    return min(found, key=lambda known: (-known.df, known.term), default=None)


def latex_words(snapshot: Snapshot, word: str) -> Correction | None:
    r"""Return the pieces of a word that the index cut at LaTeX's accents, such as `Schr odinger`; None if it has no such pieces.

    All pieces must occur in one document. For a word that the user wrote without accents, every letter is tried, and
    the pieces must nearly always occur together.
    """
    # A word with a colon, such as title:stem, has the name of a field in it.
    if reads_latex(snapshot.analyzer) or len(word) > LONGEST_IN_LATEX or ":" in word:
        return None
    has_accents = not word.isascii()
    forms = list(spellings(word))
    pieces_of = words_by_terms(snapshot.analyzer, forms)
    absent = set(snapshot.absent(term for pieces in pieces_of for term in pieces))
    for form, pieces in zip(forms, pieces_of, strict=True):
        terms = list(pieces)
        if len(terms) < 2 or not absent.isdisjoint(terms):
            continue
        docs = [snapshot.postings(term).docs for term in terms]
        together = reduce(partial(np.intersect1d, assume_unique=True), docs)
        if len(together) >= (1 if has_accents else TOGETHER * min(map(len, docs))):
            options = "latex=true" if has_accents else "latex=true and fold=true"
            return Correction(" ".join(pieces.values()), options, f"reads {form} as one word")
    return None


def nearest_term(snapshot: Snapshot, term: str, letters: int) -> Term | None:
    """Return the most frequent of the terms at the smallest distance from `term`; None if no term is near enough.

    Only terms of live documents count. `letters` is the length of the word as the user wrote it; LIMITS has the largest
    distance for it.
    """
    wanted = np.frombuffer(term.encode("utf-8", "replace"), np.uint8)
    limit = max((distance for size, distance in LIMITS if letters >= size), default=0)
    if not limit or len(wanted) < 3:
        return None
    near: dict[str, int] = {}
    for segment in snapshot.segments:
        ordinals, distances = near_strings(segment.terms.data, segment.terms.starts, wanted, limit)
        df = segment.live_df[ordinals].astype(np.int64)
        ordinals, distances, df = ordinals[df > 0], distances[df > 0], df[df > 0]
        for place in np.lexsort((-df, distances))[:NEAREST].tolist():
            near[segment.terms[int(ordinals[place])].decode()] = int(distances[place])
    least = min(near.values(), default=0)
    terms = [snapshot.term(term) for term, distance in near.items() if distance == least]
    return min(filter(None, terms), key=lambda term: (-term.df, term.term), default=None)


def near_strings(data: np.ndarray, starts: np.ndarray, wanted: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the strings within `limit` edits of `wanted`, and their distances.

    String k is `data[starts[k] : starts[k + 1]]`. `wanted` has at least three bytes. A string may be missed if its
    beginning differs from the beginning of `wanted` by more than one edit.
    """
    sizes = np.diff(starts)
    numbers = np.flatnonzero((sizes >= max(3, len(wanted) - limit)) & (sizes <= len(wanted) + limit))
    numbers = numbers[_begin_alike(data, starts[numbers], *wanted[:3])]
    return _within(data, starts[numbers], numbers, sizes[numbers], wanted, limit)


def within_edits(
    letters: np.ndarray, starts: np.ndarray, wanted: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of all strings within `limit` edits of `wanted`, and their distances.

    String k is `letters[starts[k] : starts[k + 1]]`, with bytes or code points. `wanted` may have any length.
    """
    sizes = np.diff(starts)
    numbers = np.flatnonzero((sizes >= len(wanted) - limit) & (sizes <= len(wanted) + limit))
    return _within(letters, starts[numbers], numbers, sizes[numbers], wanted, limit)


def near_beginnings(data: np.ndarray, begins: np.ndarray, sizes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the places, ascending, of the strings that have a beginning within one edit of `wanted`.

    String k is `data[begins[k] : begins[k] + sizes[k]]`. `wanted` has at least three bytes. Only the first COMPARED of the
    strings that begin like `wanted` are compared.
    """
    places = np.flatnonzero(sizes >= len(wanted) - 1)
    places = places[sizes[places] >= 3]
    places = places[_begin_alike(data, begins[places], *wanted[:3])][:COMPARED]
    near = np.zeros(len(sizes), np.bool_)
    for size in (len(wanted) - 1, len(wanted), len(wanted) + 1):
        cut = np.minimum(sizes[places], size)
        near[_within(data, begins[places], places, cut, wanted, 1)[0]] = True
    return np.flatnonzero(near)


def _begin_alike(data: np.ndarray, begins: np.ndarray, x: int, y: int, z: int) -> np.ndarray:
    """Return a mask of the strings that may begin like the letters `x`, `y`, `z` with at most one edit.

    A string outside of the mask surely does not. The edit may be in the first letter. String k begins at
    `data[begins[k]]`.
    """
    a, b = data[begins], data[begins + 1]
    # The string begins with x; or with yx: the first two letters are swapped; or with yz: it lacks the letter x.
    alike = (a == x) | ((a == y) & ((b == x) | (b == z)))
    # Or it begins with any letter before xy, which is inserted, or before yz, where it replaces x.
    for second, third in ((x, y), (y, z)):
        places = np.flatnonzero(b == second)
        alike[places[data[begins[places] + 2] == third]] = True
    return alike


def _within(
    data: np.ndarray, begins: np.ndarray, numbers: np.ndarray, sizes: np.ndarray, wanted: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the strings within the distance `limit` of `wanted`, and their distances.

    The string `numbers[k]` is `data[begins[k] : begins[k] + sizes[k]]`. Dynamic programming computes the distances of
    all strings at once. After round i, `now[j]` has, for every string, the distance between its first j bytes and the
    first i bytes of `wanted`. Only values of j near i matter. Strings that can no longer come within the limit are
    dropped from time to time.
    """
    far = np.full(len(numbers), limit + 1, np.int8)
    characters: dict[int, np.ndarray] = {}
    now = {j: np.full(len(numbers), j, np.int8) for j in range(limit + 1)}
    last = before = now
    for i, letter in enumerate(wanted, 1):
        if not len(numbers):
            break
        last, before, now = before, now, {0: np.full(len(numbers), i, np.int8)} if i <= limit else {}
        for j in range(max(1, i - limit), i + limit + 1):
            if j not in characters:
                # The characters after the end of a string are 0, which no term contains.
                at = np.minimum(begins + (j - 1), len(data) - 1)
                characters[j] = np.where(sizes >= j, data[at], 0)
            best = before.get(j - 1, far) + (characters[j] != letter)
            best = np.minimum(best, np.minimum(before.get(j, far), now.get(j - 1, far)) + 1)
            if i > 1 and j > 1:
                swapped = (characters[j] == wanted[i - 2]) & (characters[j - 1] == letter)
                best = np.where(swapped, np.minimum(best, last.get(j - 2, far) + 1), best)
            now[j] = np.minimum(best, far).astype(np.int8)
        alive = np.minimum.reduce(list(now.values())) <= limit
        if 2 * np.count_nonzero(alive) < len(alive):
            numbers, sizes, begins, far = numbers[alive], sizes[alive], begins[alive], far[alive]
            characters, now, before = ({j: row[alive] for j, row in rows.items()} for rows in (characters, now, before))
    distances = far.copy()
    for j, row in now.items():
        distances[sizes == j] = row[sizes == j]
    return numbers[distances <= limit], distances[distances <= limit]
