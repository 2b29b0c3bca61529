"""The filter `keyphrase`: it keeps the documents that are about a keyphrase of a fitted model, whether they mention it
or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.contracts.base import Context
from sublex.contracts.fitted import share_of_label
from sublex.errors import InputError
from sublex_laki.representation import LAKIRepresentation

if TYPE_CHECKING:
    import numpy as np

    from sublex import Expression


class Keyphrase:
    """Keeps the documents in which the keyphrase `phrase` of the model `of` has at least the strength `share`.

    Without `share`, the limit is the one that the model's facets use (`least_share`). `of` may be any model that names
    keyphrases, not only `laki`.
    """

    per_document = True

    def __init__(self, *, phrase: str | int, of: Expression, share: float | None):
        if not isinstance(phrase, (str, int)) or isinstance(phrase, bool) or not str(phrase).strip():
            raise InputError(f"keyphrase: {phrase!r} names no keyphrase; write it in quotes, or its number.")
        self.phrase, self.of, self.share = phrase, of, share

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return for each of `docs` whether the strength of the keyphrase in the document is at least `share`."""
        found, wanted = context.model(self.of), self.phrase
        if isinstance(found.model, LAKIRepresentation):
            # A user may also name a keyphrase by another form or by an abbreviation.
            wanted = found.model.keyphrases(found.view).number(wanted, found.name)
        shares = share_of_label(found, wanted, docs, "keyphrase")
        return shares >= (found.model.least_share if self.share is None else self.share)
