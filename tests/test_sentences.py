"""Tests of the sentences that explanations show."""

from __future__ import annotations

import numpy as np

from sublex.tools.sentences import MOST_SENTENCES, SHOWN, best_sentence, first_sentences


def test_sentences_end_with_a_mark_and_white_space_or_with_an_empty_line():
    text = 'Cranes of 3.5 kg\nfly "by night." Do they? (Yes!)\n\nA title\n \nEnd... ***\n\n鹤飞。河水！'
    assert first_sentences(text) == [
        'Cranes of 3.5 kg fly "by night."', "Do they?", "(Yes!)", "A title", "End...", "鹤飞。", "河水！",
    ]  # fmt: skip
    assert first_sentences("") == first_sentences(" ... !\n\n") == []


def test_the_first_64_sentences_are_scored_and_long_ones_are_shown_in_part():
    found = first_sentences("One. " * 500)
    assert found == ["One."] * MOST_SENTENCES
    assert list(best_sentence(found, np.arange(MOST_SENTENCES))) == [
        "of the first 64 sentences, the one that scores best alone"
    ]
    (shown,) = best_sentence(["a", "b" * 999], np.array([1.0, 2.0])).values()
    assert shown == "b" * SHOWN + "…"
    assert best_sentence(["a", "b"], np.array([1.0, 1.0])) == {"sentence that scores best alone": "a"}
    assert best_sentence([], np.empty(0)) == best_sentence(["a"], np.array([-np.inf])) == {}


def test_a_hostile_text_is_cut_in_linear_time():
    """A pattern that tries again from each character would take minutes here."""
    assert len(first_sentences("." * 200_000 + "\n" * 200_000 + ")" * 200_000)) <= 1
