"""The operation that writes rows for learning to rank: features."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sublex.errors import InputError
from sublex.forms.lines import Shown, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation, option, positional
from sublex.operations.parameters import (
    AllowUncovered,
    Contradictions,
    Fields,
    Language,
    OverwriteFile,
    Profile,
    QueryVectors,
    Rankers,
    TopicFile,
    WeightedTopics,
    Workers,
)  # fmt: skip
from sublex.operations.searching import language_of

# The default of --from.
CANDIDATES = "BM25 % 200"


@operation(faces=("cli",), forms=("table",))
def features(
    context: OperationContext,
    topics: TopicFile,
    qrels: Annotated[str | None, positional("[QRELS]", completes="file", remembered=True)] = None,
    rankers: Rankers = (),
    output: Annotated[str, option("-o", "--output", metavar="FILE", completes="file")] = ...,  # type: ignore[assignment]
    candidates: Annotated[str, option("--from", metavar="EXPR", completes="expression")] = CANDIDATES,
    contradictions: Contradictions = "error",
    fields: Fields = "title",
    workers: Workers = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    overwrite: OverwriteFile = False,
    language: Language = "plain",
    weighted: WeightedTopics = False,
    queries: QueryVectors = (),
) -> Shown:
    """Write the features of candidates, to learn to rank from them.

    Each ranker is a feature. A row has the grade of a candidate, its topic, and its score by each ranker. Candidates
    without a judgement count as not relevant. A candidate that a ranker does not score gets the lowest score that the
    ranker gives to any candidate of the topic.

    Args:
        output: Write lines in the format of SVMlight (.letor, .svm, .svmlight, .txt), .csv or .parquet.
        candidates: The expression that finds the candidates.

    Examples:
        sublex features demo topics.trec qrels.txt -r BM25 -r PL2 -o train.letor
        sublex features demo topics.trec -r BM25 --from "BM25 % 500" -o rows.csv
    """
    import sublex
    from sublex.learning.feature_files import expect_feature_file, write_features
    from sublex.learning.features import features as features_of
    from sublex.pipeline.query_forms import topics_notes
    from sublex.tools.arguments import threads

    if not rankers:
        raise InputError("Name the features with -r, as in -r BM25 -r PL2.")
    path = Path(output)
    expect_feature_file(path, overwrite, qrels is not None)
    language = language_of(language, weighted)
    context.give_queries(queries)
    index = context.index
    context.prepare("analyze search", index)
    asked = sublex.read_topics(topics, fields)
    judged = sublex.read_qrels(qrels, contradictions) if qrels is not None else None
    context.say(str(asked), *asked.notes, *(() if judged is None else (str(judged), *judged.notes)))
    context.say(*topics_notes(asked, index, language))
    meant = [context.meaning(each) for each in (candidates, *rankers)]
    with context.step("Computed the features"), context.progress(str(meant[0]), "topics", len(asked)) as advance:
        table = features_of(
            index, asked, judged, meant[1:], meant[0], workers=threads(workers), profile=profile, language=language,
            progress=advance,
        )  # fmt: skip
    write_features(table, path)
    return sentence(f"{output} has {table}", notes=table.notes)
