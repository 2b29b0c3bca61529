"""Tests of words as arrays: the kinds of break against a naive reading of the text, the words against `sequences`, and deletions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import collections, examples

import sublex
from sublex.analysis import token_kernels
from sublex.analysis.word_arrays import kinds_of_characters
from sublex.analysis.words import word_spans
from sublex.contracts.base import Break, TextWords
from sublex.errors import IndexProblem
from sublex.pipeline.index import Index
from sublex.representations import inputs

SMALL = settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
PUNCTUATION = "-–.?,;:\"'«»‘’“”()[]/$%&…。，（）_\n\n\t \u00a0"
TEXTS = st.text(st.sampled_from(f"ab1éüñЖ{PUNCTUATION}"), max_size=40)


def words_of(index: Index, run=map) -> Iterator[list[tuple[str, str, int]]]:
    """Yield the words of each document: surface, term, and breaks as a number."""
    words, vocabulary = index.corpus.words(), [*index.corpus.vocabulary, ""]
    for block in words.blocks(run):
        begin = 0
        for end in block.ends.tolist():
            rows = zip(block.surfaces[begin:end], block.terms[begin:end], block.breaks[begin:end], strict=True)
            yield [(words.surfaces[surface], vocabulary[term], int(breaks)) for surface, term, breaks in rows]
            begin = end


def naive_kind(character: str) -> int:
    """Return the kind of break of a character."""
    if character.isspace():
        return 0
    for characters, kind in ((".?!…。", Break.STOP), (",;:，", Break.COMMA), ("\"'", Break.QUOTE)):
        if character in characters:
            return kind
    kinds = {"Pd": Break.DASH, "Ps": Break.OPEN, "Pe": Break.CLOSE, "Pi": Break.QUOTE, "Pf": Break.QUOTE}
    return kinds.get(unicodedata.category(character), Break.OTHER)


def naive(title: str, text: str) -> list[tuple[str, int]]:
    """Return the words of a document with the breaks before each, character by character."""
    contents, words, end = (f"{title}\n{text}" if title else text), [], 0
    for start, stop in word_spans(contents):
        gap, kinds, blank_lines = contents[end:start], 0, 0
        if words and len(gap) == 1 and naive_kind(gap) == Break.DASH:
            kinds = Break.HYPHEN
        else:
            for character in gap:
                kinds |= naive_kind(character)
                blank_lines = 0 if naive_kind(character) else blank_lines + (character == "\n")
                kinds |= Break.START if blank_lines > 1 else 0
        if not words or (title and end <= len(title) <= start):
            kinds |= Break.START
        words.append((contents[start:stop], int(kinds)))
        end = stop
    return words


@SMALL
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_the_breaks_are_those_of_a_naive_reading(given):
    documents = [{"id": f"d{k}", "title": title.strip(), "text": text} for k, (title, text) in enumerate(given)]
    with TemporaryDirectory() as folder:
        place = Path(folder) / "index"
        index = sublex.build(documents, place, analyzer="plain", workers=1)
        found = list(words_of(index))
        stored = [index.document(document["id"]) for document in documents]
        expected = [naive(document.title, document.text) for document in stored]
        assert [[(surface, breaks) for surface, _, breaks in words] for words in found] == expected


def test_the_kinds_of_break(tmp_path):
    text = 'Deep-learning (SVM), "as we say": a - b. Yes\n\nno; x/y'
    index = sublex.build([{"id": "1", "title": "On words", "text": text}], tmp_path / "i", analyzer="plain")
    (words,) = words_of(index)
    assert [(surface, Break(breaks)) for surface, _, breaks in words] == [
        ("On", Break.START), ("words", Break(0)), ("Deep", Break.START), ("learning", Break.HYPHEN), ("SVM", Break.OPEN),
        ("as", Break.CLOSE | Break.COMMA | Break.QUOTE), ("we", Break(0)), ("say", Break(0)),
        ("a", Break.QUOTE | Break.COMMA), ("b", Break.DASH), ("Yes", Break.STOP), ("no", Break.START), ("x", Break.COMMA),
        ("y", Break.OTHER),
    ]  # fmt: skip


@SMALL
@given(collections(most=5))
def test_the_terms_are_those_of_the_sequences(given):
    with TemporaryDirectory() as folder:
        place = Path(folder) / "index"
        index = sublex.build(given, place, workers=1)
        expected = [[token.term for token in tokens if token.term] for tokens in index.corpus.sequences()]
        assert [[term for _, term, _ in words if term] for words in words_of(index)] == expected


def test_deleted_documents_are_left_out_and_documents_have_their_numbers(tmp_path):
    documents = [{"id": f"d{k}", "text": f"word{k} is here, «тёмный лес»"} for k in range(9)]
    index = sublex.build(documents[:5], tmp_path / "i")
    index.add(documents[5:])
    index.delete(["d0", "d6"])
    assert [words[0][0] for words in words_of(index)] == [f"word{k}" for k in (1, 2, 3, 4, 5, 7, 8)]
    docs = np.concatenate([block.docs for block in index.corpus.words().blocks()])
    assert docs.tolist() == index.corpus.docs.tolist()
    words = next(words_of(index))
    assert words[1:] == [("is", "", 0), ("here", "here", 0), ("тёмный", "тёмный", 20), ("лес", "лес", 0)]


def test_an_index_without_text_is_refused(tmp_path):
    index = sublex.build([{"id": "1", "text": "a b"}], tmp_path / "i", store=["terms"])
    with pytest.raises(IndexProblem, match="without stored text"):
        index.corpus.words()


def test_the_kinds_of_the_kernel_are_those_of_the_contract():
    named = {"HYPHEN": Break.HYPHEN, "DASH": Break.DASH, "OTHER": Break.OTHER, "START": Break.START}
    assert {name: getattr(token_kernels, name) for name in named} == named
    assert kinds_of_characters()[ord("a")] == Break.OTHER


@SMALL
@given(given=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_representations_read_the_words_that_a_fit_reads(given):
    documents = [sublex.Document(f"d{k}", text, title) for k, (title, text) in enumerate(given)]
    with TemporaryDirectory() as folder, mock.patch.object(inputs, "SEQUENCES_PER_BLOCK", 3):
        index = sublex.build(documents, Path(folder) / "i")
        reading = inputs.WordInputs(inputs.ModelVocabulary(()), index.snapshot.analyzer)
        fitted = list(words_of(index))
        (segment,) = index.snapshot.segments
        blocks = list(reading.blocks(segment))
        assert [text for block in blocks for text in rows_of(block)] == fitted
        assert rows_of(reading.of_documents(list(index.snapshot.documents()))) == fitted
        assert [rows_of(block[1:3]) for block in blocks] == [rows_of(block)[1:3] for block in blocks]
        known = sum(1 for text in fitted for _, term, _ in text if term)
        assert sum(map(reading.count_known, blocks)) == known


def rows_of(texts: TextWords) -> list[list[tuple[str, str, int]]]:
    """Return the words of each text: surface, term, and breaks as a number."""
    rows = [
        (texts.surfaces[word], texts.terms[word], int(breaks))
        for word, breaks in zip(texts.words.tolist(), texts.breaks.tolist(), strict=True)
    ]
    return [rows[begin:end] for begin, end in zip([0, *texts.ends.tolist()], texts.ends.tolist(), strict=False)]
