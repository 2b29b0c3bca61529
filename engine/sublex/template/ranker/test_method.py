"""The scores of NAME equal those that the formula gives by hand."""

import numpy as np
import pytest

from NAME import F2EXP
from sublex.contracts.base import DocStats, Statistics, TermStats


def test_a_score_worked_by_hand():
    # The term is in 2 of 7 documents, so its rarity is (8 / 2) ** 0.5 = 2. It occurs 3 times in a document of mean
    # length, so its share is 3 / (3 + 0.5 + 0.5) = 3/4.
    tf, doc = np.array([3.0]), DocStats(np.array([10.0]), np.array([8.0]))
    score = F2EXP(s=0.5, k=0.5).score(tf, doc, TermStats(2, 5), Statistics(7, 70, 40))
    assert score == pytest.approx([1.5])
