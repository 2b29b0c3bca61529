"""Operations on the user's encoders, which no index keeps: encoder add, list, remove."""

from __future__ import annotations

from typing import Annotated

from sublex.forms.lines import Shown, line, sentence, table_lines
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, positional

Name = Annotated[str, positional("NAME")]
Encoder = Annotated[str, positional("ENCODER")]


@operation("encoder add", needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def add(context: OperationContext, name: Name, encoder: Encoder) -> Shown:
    """Give an encoder a NAME that your expressions can use.

    The name and the path are kept in your own configuration, and no index has them. An index keeps the encoder's hash, by
    which Sublex finds the encoder among yours.

    Args:
        encoder: An expression, such as 'onnx("models/bge")'.

    Examples:
        sublex encoder add potion 'static("models/potion")'
    """
    from sublex.language.known_encoders import encoder_of, keep_encoder

    registry = context.registry
    kept = keep_encoder(registry, encoder_of(encoder, registry), name)
    return sentence(f"{kept.name} is {kept.expression}, with the hash {kept.identity[:16]}")


@operation("encoder remove", needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def remove(context: OperationContext, name: Name) -> Shown:
    """Remove an encoder from your configuration, by its name or hash.

    The files of the encoder stay, and so do all indexes.

    Examples:
        sublex encoder add potion 'static("models/potion")'
        sublex encoder remove potion
    """
    from sublex.language.known_encoders import forget_encoder

    return sentence(f"{forget_encoder(name).expression} is no encoder of yours any more")


@operation("encoder list", needs=Needs.NOTHING, faces=("cli",))
def list_encoders(context: OperationContext) -> Shown:
    """List the encoders in your configuration.

    Examples:
        sublex encoder list
    """
    from sublex.language.known_encoders import known_encoders

    known = known_encoders()
    rows = [(each.name, each.identity[:16], each.expression) for each in known]
    return Shown(
        lambda: table_lines(rows, ("name", "hash", "encoder")) if rows else [line("You have no encoders.")],
        lambda: [each._asdict() for each in known],
    )
