"""WordPiece, the tokenizer of BERT, in Python alone: it cuts a text into pieces and returns their numbers.

It reads `tokenizer.json` of the package `tokenizers`, or `vocab.txt`, and returns the same pieces as `tokenizers`.
Tokenizers with other rules are refused. J. Devlin et al., BERT: Pre-training of deep bidirectional transformers for
language understanding, NAACL 2019; M. Schuster and K. Nakajima, Japanese and Korean voice search, ICASSP 2012.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sublex.errors import InputError
from sublex_neural.files import ModelFolder, identity_of, open_file, read_json

VOCABULARY = "vocab.txt"
TOKENIZER = "tokenizer.json"
# The most bytes of a list of words, and the most characters of a piece.
LONGEST_LIST = 1 << 26
LONGEST_PIECE = 1_000
# The number of words whose pieces are remembered.
REMEMBERED = 1 << 18
# The ideographs that BERT separates. The seventh range begins at 2B920, as in Google's code and all that followed it.
_IDEOGRAPHS = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b920-\U0002ceaf"
    "\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
# What Rust's `char::is_whitespace` holds: the property White_Space of Unicode.
_SPACE = "\t-\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_SPACE}]+")
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class WordPiece:
    """A vocabulary of pieces, and the rules by which a text is cut into words.

    `pieces` has each piece at its number, and "" at a number without a piece. `unknown` is the piece of words that
    cannot be cut, and `prefix` begins each piece that continues a word. Words of more than `longest` characters are
    unknown. `specials` are texts that are one piece each wherever they occur, such as "[MASK]".
    """

    pieces: tuple[str, ...]
    unknown: str = "[UNK]"
    prefix: str = "##"
    longest: int = 100
    clean: bool = True
    ideographs: bool = True
    strip_accents: bool = True
    lowercase: bool = True
    specials: tuple[str, ...] = ()
    _known: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each piece."""
        return {piece: number for number, piece in enumerate(self.pieces) if piece}

    @cached_property
    def identity(self) -> str:
        """A hash of the vocabulary and the rules."""
        return identity_of(*self.stored().values())

    def stored(self) -> dict[str, Any]:
        """Return the values from which `restored` makes this tokenizer again. JSON can hold them."""
        return {
            "pieces": "\n".join(self.pieces), "unknown": self.unknown, "prefix": self.prefix, "longest": self.longest,
            "clean": self.clean, "ideographs": self.ideographs, "strip_accents": self.strip_accents,
            "lowercase": self.lowercase, "specials": list(self.specials),
        }  # fmt: skip

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the pieces of a text. No special pieces are added at its ends."""
        if self._special is None:
            return self._encode(text)
        found: list[int] = []
        for place, part in enumerate(self._special.split(text)):
            found += [self.numbers[part]] if place % 2 else self._encode(part)
        return found

    def tokens(self, text: str) -> list[str]:
        """Return the pieces of a text."""
        return [self.pieces[number] for number in self.encode(text)]

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        # The longest of several that begin at the same place counts.
        ordered = sorted(self.specials, key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, ordered))})") if ordered else None

    def _encode(self, text: str) -> list[int]:
        found: list[int] = []
        for word in self.words(text):
            pieces = self._known.get(word)
            if pieces is None:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                pieces = self._known[word] = self._pieces_of(word)
            found += pieces
        return found

    def words(self, text: str) -> list[str]:
        """Return the words of a text, normalised as the vocabulary is. Each punctuation mark is a word."""
        if not text.isascii():
            text = self._normal(text)
        else:
            text = "".join(map(_clean, text)) if self.clean and not text.isprintable() else text
            text = text.lower() if self.lowercase else text
        return [word for run in _SPACES.split(text) if run for word in _cut(run)]

    def _normal(self, text: str) -> str:
        if self.clean:
            text = "".join(map(_clean, text))
        if self.ideographs:
            text = _IDEOGRAPHS.sub(r" \1 ", text)
        if self.strip_accents:
            text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        if self.lowercase:
            # Each character alone: `lower` of a whole text would give the last sigma of a word another form.
            text = "".join(map(str.lower, text))
        return text

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        """Return the pieces of a word: always the longest piece that fits; the unknown piece if none does."""
        numbers, unknown = self.numbers, (self.numbers[self.unknown],)
        if len(word) > self.longest:
            return unknown
        found, begin = [], 0
        while begin < len(word):
            prefix, end = self.prefix if begin else "", min(len(word), begin + self._widest)
            while end > begin and (number := numbers.get(prefix + word[begin:end])) is None:
                end -= 1
            if end == begin:
                return unknown
            found.append(number)
            begin = end
        return tuple(found)  # type: ignore[arg-type]

    @cached_property
    def _widest(self) -> int:
        """Characters of the longest piece."""
        return max(map(len, self.pieces))


def _clean(character: str) -> str:
    """Return a space for white space, "" for other control characters, and any other character unchanged."""
    if character in "\t\n\r ":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co"):
        return ""
    return " " if _SPACES.fullmatch(character) else character


def is_mark(text: str) -> bool:
    """Return whether a text is a single punctuation mark."""
    return text in _ASCII_MARKS or (len(text) == 1 and text > "\x7f" and unicodedata.category(text)[0] == "P")


def _cut(run: str) -> list[str]:
    """Return the words of a text without white space: punctuation marks, and the parts between them."""
    if run.isalnum():
        return [run]
    words, begin = [], 0
    for place, character in enumerate(run):
        if is_mark(character):
            words += [run[begin:place], character] if place > begin else [character]
            begin = place + 1
    return [*words, run[begin:]] if begin < len(run) else words


def restored(stored: Any) -> WordPiece:
    """Return the tokenizer of values that `WordPiece.stored` returned. Raise `InputError` for other values."""
    kinds = {
        "pieces": str, "unknown": str, "prefix": str, "longest": int, "clean": bool, "ideographs": bool,
        "strip_accents": bool, "lowercase": bool, "specials": list,
    }  # fmt: skip
    if not isinstance(stored, dict) or {name: type(value) for name, value in stored.items()} != kinds:
        raise InputError("The index holds no sound tokenizer; index the collection again.")
    if not all(isinstance(special, str) for special in stored["specials"]):
        raise InputError("The index holds no sound tokenizer; index the collection again.")
    specials = tuple(stored["specials"])
    return _checked(
        WordPiece(**{**stored, "pieces": tuple(stored["pieces"].split("\n")), "specials": specials}), "The index"
    )


def _checked(made: WordPiece, path: str) -> WordPiece:
    """Return `made`. Raise `InputError`, which names `path`, if its values contradict each other."""
    missing = [piece for piece in (made.unknown, *made.specials) if piece not in made.numbers]
    if missing:
        raise InputError(f"{path} has no piece {missing[0][:40]!r}, which its tokenizer needs.")
    if len(made.numbers) != sum(map(bool, made.pieces)):
        raise InputError(f"{path} has a piece twice.")
    if made._widest > LONGEST_PIECE or any("\n" in piece for piece in made.numbers) or made.longest < 1:
        raise InputError(f"{path} has a piece that no word has; it is no vocabulary of WordPiece.")
    return made


def read_wordpiece(folder: ModelFolder) -> WordPiece:
    """Return the tokenizer in a folder, read from `tokenizer.json`, or else from `vocab.txt` and
    `tokenizer_config.json`.
    """
    if folder.has(TOKENIZER):
        path = folder.place(TOKENIZER)
        return _checked(_of_json(read_json(path), path), path)
    if folder.has(VOCABULARY):
        path = folder.place(VOCABULARY)
        with open_file(path) as file:
            data = file.read(LONGEST_LIST + 1)
        try:
            lines = data.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            raise InputError(f"{path} is not UTF-8.") from None
        if len(data) > LONGEST_LIST:
            raise InputError(f"{path} has more than {LONGEST_LIST >> 20} MiB; it is no vocabulary.")
        settings = folder.json("tokenizer_config.json")
        lowercase = settings.get("do_lower_case", True) is not False
        accents = settings.get("strip_accents")
        pieces = tuple(line.rstrip("\r") for line in lines)
        specials = tuple(piece for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if piece in pieces)
        strip = lowercase if accents is None else accents is True
        chinese = settings.get("tokenize_chinese_chars", True) is not False
        made = WordPiece(pieces, ideographs=chinese, strip_accents=strip, lowercase=lowercase, specials=specials)
        return _checked(made, path)
    raise folder.no_model(f"{TOKENIZER} and no {VOCABULARY}", "Save the tokenizer beside the model.")


def _of_json(found: Any, path: str) -> WordPiece:
    """Return the tokenizer that a `tokenizer.json` describes."""

    def refusal(what: str) -> InputError:
        return InputError(f"{path} has {what}; Sublex reads WordPiece as BERT has it.")

    def part(name: str) -> dict[str, Any]:
        value = found.get(name)
        return value if isinstance(value, dict) else {}

    if not isinstance(found, dict):
        raise InputError(f"{path} is no tokenizer.")
    model, normalizer, cutter = part("model"), part("normalizer"), part("pre_tokenizer")
    vocabulary = model.get("vocab")
    kind = model.get("type") or ("WordPiece" if "max_input_chars_per_word" in model else None)
    if kind != "WordPiece" or not isinstance(vocabulary, dict):
        raise refusal(f"a model of the type {str(kind)[:30]}")
    if normalizer.get("type") != "BertNormalizer":
        raise refusal(f"a normalizer of the type {str(normalizer.get('type'))[:30]}")
    if cutter.get("type") != "BertPreTokenizer":
        raise refusal(f"a pre-tokenizer of the type {str(cutter.get('type'))[:30]}")
    lowercase, accents = normalizer.get("lowercase") is not False, normalizer.get("strip_accents")
    specials: list[str] = []
    added = found.get("added_tokens") or []
    vocabulary = dict(vocabulary)
    for token in added if isinstance(added, list) else [None]:
        entry = token if isinstance(token, dict) else {}
        content, rules = entry.get("content"), ("single_word", "lstrip", "rstrip", "normalized")
        if not isinstance(content, str) or not content or any(entry.get(rule) for rule in rules):
            raise refusal("an added token with rules of its own")
        specials.append(content)
        vocabulary.setdefault(content, entry.get("id"))
    longest, prefix, unknown = (
        model.get("max_input_chars_per_word", 100), model.get("continuing_subword_prefix", "##"), model.get("unk_token", "[UNK]"),
    )  # fmt: skip
    if type(longest) is not int or not isinstance(prefix, str) or not isinstance(unknown, str):
        raise refusal("settings of other types")
    return WordPiece(
        _numbered(vocabulary, path), unknown, prefix, longest, normalizer.get("clean_text") is not False,
        normalizer.get("handle_chinese_chars") is not False, lowercase if accents is None else accents is True, lowercase,
        tuple(specials),
    )  # fmt: skip


def _numbered(vocabulary: dict[str, Any], path: str) -> tuple[str, ...]:
    """Return the pieces by number. The numbers have to be small whole numbers that differ."""
    numbers: Sequence[Any] = list(vocabulary.values())
    if not numbers or not all(type(number) is int and 0 <= number < 2 * len(numbers) + 1_000 for number in numbers):
        raise InputError(f"{path} numbers its pieces by other than 0, 1, 2 and so on.")
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{path} gives two pieces the same number.")
    pieces = [""] * (max(numbers) + 1)
    for piece, number in vocabulary.items():
        pieces[number] = piece
    return tuple(pieces)
