"""What the stages of a pipeline share: an open index, its lexicon, and one searcher for each ranker."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

import numpy as np

from sublex.expression import Call, Expression
from sublex.index.index import Index
from sublex.plugins import Registry
from sublex.profiles import Profile
from sublex.rank.hits import Hits
from sublex.rank.lexicon import Lexicon
from sublex.rank.search import Searcher


class Engine:
    """One generation of an index, ready to rank."""

    def __init__(self, index: Index, registry: Registry):
        self.index, self.registry = index, registry
        self.lexicon = Lexicon(index)
        self._searchers: dict[str, Searcher] = {}
        self._lock = Lock()

    def searcher(self, call: Call) -> Searcher:
        """The searcher of a ranker, given in its canonical form."""
        name = str(call)
        with self._lock:
            if name not in self._searchers:
                ranker = self.registry.resolve("ranker", call).make()
                self._searchers[name] = Searcher(self.index, ranker, name, self.lexicon)
            return self._searchers[name]
