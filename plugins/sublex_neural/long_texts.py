"""The beginnings of long texts: if a tokenizer cuts texts at white space, it need not read a text beyond the pieces
that are kept.

A text is cut before a space or newline. With the tokenizers that `is_local` accepts, the pieces of the beginning are
the first pieces of the whole text: none of their normalizers, added tokens and models looks across white space.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Normalizers that change each character by itself, or with the marks that follow it.
NORMALIZERS = frozenset(
    ("BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Precompiled", "Prepend")
)
# Pre-tokenizers that cut a text at white space, and pre-tokenizers that cut words further.
SPLITTING = frozenset(("BertPreTokenizer", "ByteLevel", "Metaspace", "Whitespace", "WhitespaceSplit"))
WITHIN_WORDS = frozenset(("Punctuation", "Digits"))
# Options that must not be false: without them, these parts leave a text in one piece.
OPTIONS = {"ByteLevel": "use_regex", "Metaspace": "split"}
# White space at which a text is cut. Every tokenizer takes these characters for white space.
SPACES = " \n"
# The number of characters of the first beginning, for each piece that is kept.
CHARACTERS = 16


def is_local(tokenizer: dict[str, Any]) -> bool:
    """Return whether the pieces of a text up to a white space are independent of the text after it.

    `tokenizer` is the content of a `tokenizer.json`.
    """
    normalizers, cutters = (
        _parts(tokenizer, "normalizer", "normalizers"),
        _parts(tokenizer, "pre_tokenizer", "pretokenizers"),
    )
    names = {_type(part) for part in cutters}
    added = tokenizer.get("added_tokens")
    return (
        {_type(part) for part in normalizers} <= NORMALIZERS
        and names <= SPLITTING | WITHIN_WORDS
        and bool(names & SPLITTING)
        and all(part.get(OPTIONS[_type(part)]) is not False for part in cutters if _type(part) in OPTIONS)
        and all(isinstance(each, dict) and _is_word(each.get("content")) for each in (added or ()))
    )


def _parts(tokenizer: dict[str, Any], name: str, parts: str) -> list[dict[str, Any]]:
    """Return the parts of a step of a tokenizer, such as its normalizers. A sequence is replaced by its members.

    `name` names the step, and `parts` the member that lists the parts of a sequence. A part that is no object has no
    type.
    """
    found: list[dict[str, Any]] = []
    left = [tokenizer.get(name)]
    while left:
        part = left.pop()
        if isinstance(part, dict) and part.get("type") == "Sequence" and isinstance(part.get(parts), list):
            left += part[parts]
        elif part is not None:
            found.append(part if isinstance(part, dict) else {})
    return found


def _type(part: dict[str, Any]) -> str:
    return str(part.get("type"))


def _is_word(content: Any) -> bool:
    return isinstance(content, str) and not any(character.isspace() for character in content)


def beginnings(text: str, pieces: int) -> Iterator[str]:
    """Yield longer and longer beginnings of a text, each up to a space or newline, and at last the whole text.

    `pieces` is the number of pieces that are kept. All beginnings together are at most twice as long as the text.
    """
    size, last = CHARACTERS * pieces, ""
    while size < len(text):
        part = text[: max(0, *(text.rfind(space, 0, size) for space in SPACES))].rstrip(SPACES)
        if part != last:
            yield part
        size, last = 2 * size, part
    yield text
