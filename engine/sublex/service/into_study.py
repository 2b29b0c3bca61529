"""The rankings of a view as a study: the text of a file that runs them on the topics of the server, and how to run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sublex.studies.from_comparison import ComparedSystems, study_of_comparison
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.service.context import RequestContext
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# The folder of the saved file is not known. With a folder that does not exist, all paths in the study are absolute.
NOWHERE = "/nowhere/of/sublex/{name}.toml"


def into_study(
    context: RequestContext, topics: Topics, qrels: Qrels, rankers: Sequence[str], query: str, **options: Any
) -> dict[str, Any]:
    """Return the study as text, the name of its file, the command that runs it, and which of its topics a query is."""
    index = context.index
    compared = ComparedSystems(index.path, topics.path, qrels.path, rankers, fields="+".join(topics.used), **options)
    file = NOWHERE.format(name=context.name)
    text, said = study_of_comparison(file, compared)
    name = file.rpartition("/")[2]
    same = [topic.qid for topic in topics if topic.text == query] if query else []
    return {
        "study": text,
        "file": name,
        "command": said.partition("to run it: ")[2].replace(file, name),
        "topics": same,
    }


def note_of(found: dict[str, Any], topics: Topics, query: str) -> list[str]:
    """Return the sentence that says which topics the study ranks, and whether the query of a view is among them."""
    ranked = f"The study ranks {counted(len(topics), 'topic')}"
    if not query:
        return [f"{ranked}."]
    if found["topics"]:
        return [f"{ranked}; the hits of this view are those of topic {', '.join(found['topics'])}."]
    return [f"{ranked}. The query is none of them; add it to the file of topics, with judgements, to study it."]
