"""The interface of scikit-learn's estimators: parameters have names, and can be read and changed."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

from sublex.errors import InputError
from sublex.tools.messages import near_names


class Estimator:
    """An estimator whose constructor keeps each parameter as an attribute of the same name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters and return the estimator, as scikit-learn's searches expect."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name}; it has {near_names(name, known)}.")
            setattr(self, name, value)
        return self
