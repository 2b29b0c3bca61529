"""The language of expressions: trees, their text, parameters of components, and the registry that looks up names."""

from sublex.language import operands

__all__ = ["operands"]
