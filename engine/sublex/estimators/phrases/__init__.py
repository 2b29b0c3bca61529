"""Phrases of a collection: sequences of words that belong together, as "support vector machine", found without labels made by hand.

`read_text` reads a collection, `mine` finds its phrases, and `PhraseList` keeps them and finds them in any text.
"""

from sublex.estimators.phrases.features import NAMES
from sublex.estimators.phrases.mining import Mined, mine
from sublex.estimators.phrases.phrase_list import PhraseList
from sublex.estimators.phrases.text import Lexicon, Text, read_text

__all__ = ["NAMES", "Lexicon", "Mined", "PhraseList", "Text", "mine", "read_text"]
