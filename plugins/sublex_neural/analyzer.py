"""The analyzer `wordpiece`: the pieces of BERT's tokenizer as terms."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cached_property
from typing import Any

from sublex_neural.files import ModelFolder
from sublex_neural.wordpiece import WordPiece, is_mark, read_wordpiece, restored


class WordPieceAnalyzer:
    """Cuts words into the pieces of a neural model's vocabulary, such as `crane` and `##s`.

    `folder` is the folder of a model with `tokenizer.json` or `vocab.txt`. The index stores the vocabulary and gives it
    back as `stored`, with an empty `folder`, so it no longer needs the folder. Punctuation marks are no terms, and
    neither are words that the vocabulary cannot make.
    """

    def __init__(self, folder: str, stored: Any = None):
        self.folder, self.stored = folder, stored

    @cached_property
    def _tokenizer(self) -> WordPiece:
        made = restored(self.stored) if self.folder == "" else read_wordpiece(ModelFolder(self.folder))
        # In a text that is indexed, "[SEP]" is a word like any other.
        return replace(made, specials=())

    def __str__(self) -> str:
        return f"wordpiece({self._tokenizer.identity[:8]})"

    def settings(self) -> dict[str, Any]:
        """Return the name of the analyzer and its vocabulary, from which it can be made again."""
        return {"name": "wordpiece", "params": {"folder": "", "stored": self._tokenizer.stored()}}

    def terms(self, token: str) -> list[str]:
        """Return the pieces of a raw token, without punctuation marks and without words that the vocabulary cannot
        make.
        """
        unknown = self._tokenizer.unknown
        return [piece for piece in self._tokenizer.tokens(token) if piece != unknown and not is_mark(piece)]

    def versions(self) -> dict[str, str]:
        """Return the version of Unicode, by which texts are cut into words."""
        return {"unicode": unicodedata.unidata_version}

    def letters(self, text: str) -> str:
        """Return a text in the letters of the pieces, for patterns."""
        return " ".join(self._tokenizer.words(text)) if text else ""
