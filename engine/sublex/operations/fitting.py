"""Operations on fitted models: fit, card, forget, encode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sublex.errors import IndexProblem, InputError, SublexError, UnknownName
from sublex.forms.lines import Shown, line, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import File, Needs, operation, option, positional
from sublex.operations.parameters import Model, OverwriteFile, Reader, Workers
from sublex.tools.messages import Message, Step
from sublex.tools.outputs import expect_folder

if TYPE_CHECKING:
    from sublex.language.expression import Call
    from sublex.pipeline.index import Index

# The default limit of memory for fitting.
FIT_MEMORY = "4GB"


@operation(
    faces=("cli", "shell", "service"),
    forms=("table",),
    python="[index.fit(expression) for expression in {expressions}]",
    changes=True,
)
def fit(
    context: OperationContext,
    expressions: Annotated[tuple[str, ...], positional("EXPR", completes="fittable")] = (),
    update: bool = False,
    source: Annotated[str | None, option("--from", metavar="OTHER", completes="index")] = None,
    seed: Annotated[int | None, option(least=0, shown="the model's")] = None,
    memory: Annotated[str, option(metavar="SIZE")] = FIT_MEMORY,
    workers: Workers = None,
    named: Annotated[str | None, option("--as", metavar="NAME", completes="name")] = None,
) -> Shown:
    """Fit models to an index and encode its documents.

    EXPR names a model with its parameters. A fitted model can be used like a ranker. Models that EXPR depends on are
    fitted first. EXPR may also be a whole pipeline, such as best: then all models that it needs are fitted, after a sentence
    that says about how long this takes and how many bytes they have. If a model cannot be fitted, the others are fitted all
    the same, and the exit code is 2.

    Args:
        update: Encode documents that models do not cover; without EXPR, for all models.
        source: Take the models from this index instead of fitting them.
        seed: Seed of random numbers in fitting.
        memory: Memory that fitting may take.
        named: Give the model this name, which then stands for its expression.

    Examples:
        sublex fit demo "lsi(e=50)" --as meaning
        sublex search demo "cranes by the river" -r "PL2 + 0.3*lsi(e=50)"
    """
    from sublex.index.lookup import existing_path

    context.prepare()
    index, wanted = context.index, list(expressions)
    if update and not wanted:
        wanted = [rows.expression for entry in index.fitted.values() for rows in entry.rows.values()]
    if not wanted:
        raise InputError(Message("Name what to fit, as in: ", Step("fit", "INDEX", "lsi(e=100)"), "."))
    if source is None and not update:
        wanted = [model for text in wanted for model in _models_of(context, index, text, workers)]
        if not wanted:
            return sentence(
                f"{' and '.join(expressions)} {'needs' if len(expressions) == 1 else 'need'} no fitted model."
            )
    if named is not None:
        if len(wanted) != 1:
            raise InputError(f"--as {named} names one model, and there are {len(wanted)}; fit them one by one.")
        index.check_name(named)
    shown = fit_each(context, index, wanted, seed, None if source is None else existing_path(source), workers, memory)
    if named is not None:
        before = index.name(named, str(_call(wanted[0], seed, index)))
        instead = f"; before, it stood for {before}" if before not in ("", index.names[named]) else ""
        context.say(f"{named} stands for {index.names[named]}{instead}.")
    return shown


def _models_of(context: OperationContext, index: Index, text: str, workers: int | None) -> list[str]:
    """Return the models that an expression needs; this may be the expression itself.

    For a pipeline, tell the cost of fitting them.
    """
    from sublex.tools.arguments import threads
    from sublex.tools.messages import counted

    if not _is_pipeline(index, text):
        return [text]
    models = index.models_in(text)
    missing = [model for model in models if not index.is_fitted(model)]
    if not missing:
        return models
    cores, costs = threads(workers), [index.cost_of(model) for model in missing]
    about = ""
    if all(cost is not None for cost in costs):
        seconds, nbytes = (sum(values) for values in zip(*(cost for cost in costs if cost is not None), strict=True))
        about = f", which takes about {_duration(seconds / cores)} on {counted(cores, 'core')} and {_size(nbytes)}"
    context.say(f"{text} fits {', '.join(missing)}{about}.")
    return models


def _is_pipeline(index: Index, text: str) -> bool:
    """Return whether a text is a pipeline, and not a single component, after names are written out."""
    from sublex.language.expression import Call
    from sublex.language.parser import parse

    return not isinstance(index.written_out(parse(text)), Call)


def _duration(seconds: float) -> str:
    """Return a rough time in words: a whole number of seconds, minutes or hours, at least 1 second."""
    for unit, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= 2 * size or size == 1:
            number = max(1, round(seconds / size))
            return f"{number:,} {unit}{'s' * (number > 1)}"
    raise AssertionError("The last unit is always taken.")


def _size(nbytes: float) -> str:
    """Return a rough number of bytes in words, in MB or GB."""
    return f"{nbytes / 1e9:.1f} GB" if nbytes >= 1e9 else f"{max(1, round(nbytes / 1e6)):,} MB"


def fit_each(
    context: OperationContext,
    index: Index,
    expressions: Iterable[str],
    seed: int | None = None,
    source: Path | None = None,
    workers: int | None = None,
    memory: str = FIT_MEMORY,
) -> Shown:
    """Fit models one after another, and return what became of each as Shown.

    If one of several expressions cannot be fitted, the error is reported, and the others are fitted. `memory` is a size
    such as "4GB"; without `workers`, fitting uses all cores.
    """
    from sublex.building.indexing import parse_size
    from sublex.tools.arguments import threads

    cores, size = threads(workers), parse_size(memory)
    states, code, wanted = list[str](), 0, list(expressions)
    for text in wanted:
        generation = index.generation
        try:
            expression, units = str(_call(text, seed, index)), list[str]()
            with (
                context.step(f"Fitted {expression} and encoded the documents"),
                context.changing(),
                context.progress(expression, "steps") as advance,
            ):
                index.fit(
                    expression, source, workers=cores, memory=size, counting=units.append, say=context.say,
                    progress=lambda done, total, advance=advance, units=units: advance(done, total, units[-1]),  # type: ignore[misc]
                )  # fmt: skip
        except SublexError as error:
            if len(wanted) == 1:
                raise
            context.report(error)
            code = 2
            continue
        state = "is fitted" if index.generation != generation else "was fitted already"
        text = f"{expression} {state} on {index.path}{_decided(index, expression)}"
        states += [] if context.show(text) else [text]
    return Shown(lambda: [line(state, indent=0) for state in states], lambda: states, code=code)


def _decided(index: Index, expression: str) -> str:
    """Return the decisions about the labels of a fitted model, as the end of a sentence; "" if there are none."""
    if not index.snapshot.manifest.labels:
        return ""
    decided = index.fitted_model(expression).decided
    return f"; what people decided about its labels stays: {decided}" if decided else ""


def _call(text: str, seed: int | None, index: Index) -> Call:
    """Parse the expression of a model, and add the seed if the model has such a parameter."""
    from sublex.language.expression import Call
    from sublex.language.parser import parse

    call = index.written_out(parse(text))
    if not isinstance(call, Call):
        raise InputError(f"{text} is not one component; fit its parts, such as lsi(e=100), by themselves.")
    if seed is None or not _takes_seed(call, index):
        return call
    if call.params.get("seed", seed) != seed:
        raise InputError(f"{text} has a seed of its own; leave one of them out.")
    return Call(call.name, call.args, {**call.params, "seed": seed})


def _takes_seed(call: Call, index: Index) -> bool:
    """Return whether a component has a parameter `seed`; False for an unknown name, which fitting reports."""
    try:
        return "seed" in [param.name for param in index.registry.find("component", call.name).params]
    except UnknownName:
        return False


def card_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `card`: for the facts of one fitted model, or for the list of all."""
    return f"index.card({given['expression']!r})" if given["expression"] else "index.fitted"


@operation(
    needs=Needs.MODEL,
    file=File((".html", ".htm"), metavar="PAGE"),
    python=card_code,
)
def card(
    context: OperationContext, expression: Annotated[str | None, positional("EXPR", completes="model")] = None
) -> Shown:
    """Describe a fitted model, or list all fitted models.

    EXPR is the expression of the model, or its name on disk. Of a pipeline, such as best, the command lists the models, and
    says which of them are not fitted. Without EXPR, the command lists all fitted models. The last column says why a model is
    outdated: no expression names it any more.

    Args:
        output: Write the model to this file as an HTML page, if it has one.

    Examples:
        sublex card demo
        sublex card demo "lsi(e=20)"
        sublex card demo best
    """
    from sublex.display.card import card as shown
    from sublex.display.card import models, pipeline_models

    index = context.index
    if expression is None:
        listed = models(index)
        listed.files = {".html": _unnamed}
        return listed
    if expression not in index.fitted and _is_pipeline(index, expression):
        listed = pipeline_models(index, expression)
        listed.files = {".html": _unnamed}
        return listed
    chosen = _named(context, expression)
    described = shown(index, chosen)
    described.files, described.about = {".html": index.fitted_model(chosen).page}, f"shows {chosen}"
    return described


def _unnamed() -> str:
    """Raise an error, because there is no page of all models."""
    step = Step("card", "INDEX", "lda(k=20)")
    raise InputError(Message("Name the model that the page shows, as in: ", step, " -o topics.html."))


def _named(context: OperationContext, text: str) -> str:
    """Return the expression of the fitted model that a text names. The text is an expression or a name on disk.

    Raise IndexProblem for the name of an outdated model, whose expression names another model or none.
    """
    from sublex.representations.stored_models import expressions_of

    index = context.index
    if text not in index.fitted:
        return context.meaning(text)
    expression = expressions_of(index.fitted[text])[0]
    if reason := index.outdated_models().get(text):
        state = f"{text}, which was {expression}, is outdated ({reason.rstrip('.')}), so nothing can use it"
        raise IndexProblem(Message(state, "; to remove it: ", Step("forget", index.path, text)))
    return expression


def forget_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `forget`, which removes fitted models."""
    arguments = [*map(repr, given["expressions"]), *(["labels=True"] if given["labels"] else [])]
    return f"index.forget({', '.join(arguments)})"


@operation(python=forget_code, changes=True)
def forget(
    context: OperationContext,
    expressions: Annotated[tuple[str, ...], positional("EXPR", completes="model")],
    labels: bool = False,
) -> Shown:
    """Remove fitted models from an index, with all that they encoded.

    All models are removed in one step, or none if one is needed by a model that stays. What people decided about labels
    stays for the next fit of the same expression.

    Args:
        labels: Remove what people decided about the labels of these models too.

    Examples:
        sublex forget demo "lsi(e=20)"
    """
    from sublex.representations.stored_models import expressions_of

    index = context.index
    before = index.fitted
    index.forget(*expressions, labels=labels)
    gone = [entry for model, entry in before.items() if model not in index.fitted]
    removed = [text for entry in gone for text in expressions_of(entry)]
    stay = any(entry.expression in index.snapshot.manifest.labels for entry in gone)
    kept = "; what people decided about labels stays for the next fit" if stay else ""
    return sentence(f"{', '.join(removed)} {'is' if len(removed) == 1 else 'are'} gone from {index.path}{kept}")


@operation(needs=Needs.MODEL, faces=("cli",), forms=("table",))
def encode(
    context: OperationContext,
    expression: Model,
    file: Annotated[str | None, positional("FILE", completes="file")] = None,
    output: Annotated[str, option("-o", "--output", metavar="OUT", completes="file")] = ...,  # type: ignore[assignment]
    topics: Annotated[str | None, option("--topics", metavar="TOPICS", completes="file")] = None,
    reader: Reader = None,
    overwrite: OverwriteFile = False,
) -> Shown:
    """Write the vectors that a fitted model gives to documents, or to queries.

    The documents are those of the index, or those of FILE. An .npz file has the arrays `docnos` and `rows`, or for sparse
    rows `docnos`, `data`, `indices`, `indptr` and `shape`. A .parquet file has the columns `docno` and `row`.

    Args:
        output: Write the vectors to this file, in .npz or .parquet.
        topics: Write the vectors of the queries in this topic file, with their ids as docnos.

    Examples:
        sublex encode demo "lsi(e=20)" -o vectors.npz
        sublex encode demo "lsi(e=20)" --topics topics.trec -o topics.npz
    """
    import sublex
    from sublex.representations.export import export, export_queries

    if topics and file:
        raise InputError("Give a file of documents or --topics, not both.")
    expect_folder(output)
    context.prepare()
    index, expression = context.index, context.meaning(expression)
    model = index.representation(expression)
    if topics:
        queries = {topic.qid: index.query(topic.text) for topic in sublex.read_topics(topics)}
        with context.step("Wrote the vectors"):
            count = export_queries(model, queries, Path(output), overwrite)
        return sentence(f"{output} has the vectors of {count:,} {'query' if count == 1 else 'queries'} by {expression}")
    with context.step("Wrote the vectors"):
        count = export(
            index.snapshot, model, Path(file) if file else None, Path(output), reader, context.say, overwrite
        )
    return sentence(f"{output} has the vectors of {count:,} documents by {expression}")
