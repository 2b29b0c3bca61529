"""The language of expressions: trees, their text, the parameters of components, and the registry in which names are looked up."""

from sublex.language import operands

__all__ = ["operands"]
