"""Tests of the beginnings of long texts, which give a tokenizer the same pieces as the whole texts."""

from __future__ import annotations

import json

import pytest
import tiny_models as models
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

tokenizers = pytest.importorskip("tokenizers", reason="could not import 'tokenizers'")
from sublex_neural import long_texts  # noqa: E402
from sublex_neural.onnx import OnnxEncoder  # noqa: E402

WORDS = [
    "the",
    "crane",
    "cranes",
    "a",
    "é",
    "e\u0301",
    "Σ",
    "中国",
    "it's",
    "1,5",
    "river--bank",
    "\u200b",
    "<mask>",
    "[SEP]",
]
SPACES = [" ", "  ", "\n", " \n ", "\t", "\u3000", "\x1c", "\u0301 ", "\r\n"]


def trained(kind: str) -> dict:
    """Return a `tokenizer.json` of the package tokenizers, trained on a few words."""
    from tokenizers import AddedToken, models, normalizers, pre_tokenizers, trainers

    model, trainer, cutter, normalizer = {
        "bytes": (models.BPE(), trainers.BpeTrainer(vocab_size=320), pre_tokenizers.ByteLevel(), None),
        "unigram": (
            models.Unigram(), trainers.UnigramTrainer(vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"]),
            pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), normalizers.NFKC(),
        ),
        "words": (
            models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=60, special_tokens=["[UNK]"]),
            pre_tokenizers.Whitespace(), normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
        ),
    }[kind]  # fmt: skip
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = cutter
    if normalizer is not None:
        made.normalizer = normalizer
    made.train_from_iterator([" ".join(WORDS)] * 4, trainer)
    made.add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    return json.loads(made.to_str())


KINDS = {"bert": models.tokenizer(), **{kind: trained(kind) for kind in ("bytes", "unigram", "words")}}


@pytest.mark.parametrize("kind", KINDS)
@given(
    parts=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)), min_size=1, max_size=60),
    length=st.integers(2, 12),
    first=st.integers(1, 4),
)
@settings(max_examples=examples(100), deadline=None)
def test_a_beginning_gives_the_pieces_of_the_whole_text(kind, parts, length, first):
    assert long_texts.is_local(KINDS[kind])
    text = "".join(word + space for word, space in parts)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(KINDS[kind]))
    whole = tokenizer.encode(text).ids
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "CHARACTERS", first)
        found = list(long_texts.beginnings(text, length))
    assert found[-1] == text
    ends = [0] * len(KINDS[kind]["post_processor"]["special_tokens"]) if kind == "bert" else []
    for part in found[:-1]:
        assert len(part) < len(text) and text.startswith(part) and text[len(part)] in " \n"
        own = tokenizer.encode(part).ids
        # The last of BERT's pieces is [SEP], which ends each text.
        own = own[: len(own) - len(ends[1:])]
        assert own == whole[: len(own)]
    tokenizer.enable_truncation(length)
    kept = next((part for part in found[:-1] if tokenizer.encode(part).overflowing), text)
    assert tokenizer.encode(kept).ids == tokenizer.encode(text).ids
    assert bool(tokenizer.encode(kept).overflowing) == bool(tokenizer.encode(text).overflowing)
    for query in ("crane", "the crane " * 3):
        if not tokenizer.encode(query).overflowing:
            assert tokenizer.encode(query, kept).ids == tokenizer.encode(query, text).ids


@pytest.mark.parametrize(
    "changes",
    [
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "Digits", "individual_digits": True}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a.*"}, "behavior": "Isolated", "invert": False}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Metaspace", "split": False}]}},
        {"pre_tokenizer": "Whitespace"},
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "a.*z"}, "content": ""}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "Strip"}]}},
        {"added_tokens": [{"id": 0, "content": "two words"}]},
        {"added_tokens": [7]},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_other_tokenizers_read_whole_texts(changes):
    assert not long_texts.is_local(models.tokenizer() | changes)


class Recording:
    """A tokenizer that notes the lengths of the texts that it reads."""

    def __init__(self, tokenizer):
        self.tokenizer, self.lengths = tokenizer, []

    def encode(self, text):
        self.lengths.append(len(text))
        return self.tokenizer.encode(text)

    def encode_batch(self, texts):
        self.lengths += [sum(map(len, text)) if isinstance(text, tuple) else len(text) for text in texts]
        return self.tokenizer.encode_batch(texts)


@pytest.mark.parametrize("cuts", [True, False])
def test_the_encoder_reads_only_the_beginnings_of_long_texts(tmp_path, cuts):
    pytest.importorskip("onnxruntime", reason="could not import 'onnxruntime'")
    # A part that is not known to cut texts at white space could look beyond it.
    parts = [{"type": "BertPreTokenizer"}, {"type": "CharDelimiterSplit", "delimiter": ","}]
    tokenizer = models.tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": parts[: 1 if cuts else 2]})
    texts = [
        "the crane river " * 4000,
        "a bird",
        "quiet\n" + "construction" * 3000 + " the",
        "crane " * 40 + "bird" * 400,
    ]
    for name, model in (
        ("rows", models.token_model(models.table())),
        ("pairs", models.pair_model(models.table(), models.table(6, 1)[:, :1])),
    ):
        config = {} if name == "rows" else {"architectures": ["BertForSequenceClassification"]}
        files = {"model.onnx": model.SerializeToString(), "tokenizer.json": tokenizer, "config.json": config}
        folder = models.write(tmp_path / name, files)
        given = {"pooling": "mean"} if name == "rows" else {}
        made, whole = (OnnxEncoder(folder, length=10, **given) for _ in range(2))
        recording = vars(made)["_tokenizer"] = Recording(made._tokenizer)
        whole._tokenizer  # noqa: B018  # Read before `_cuts`, which it sets.
        whole._cuts = False
        if name == "rows":
            found, expected = made.encode(texts, "document"), whole.encode(texts, "document")
            assert (found.rows == expected.rows).all() and found.cut == expected.cut == 2
        else:
            # Of a long query, either of the two could be the longer one, so texts are read whole.
            for query in ("crane " * 90, "crane " * 12, "a quiet bird"):
                recording.lengths.clear()
                found, expected = made.score_pairs(query, texts), whole.score_pairs(query, texts)
                assert (found.scores == expected.scores).all() and found.cut == expected.cut
                assert (max(recording.lengths) < 40_000) == (cuts and query == "a quiet bird")
        # The third text has no space before its end, so it is read whole; it has 36,010 characters.
        assert (max(recording.lengths) < 40_000) == cuts
