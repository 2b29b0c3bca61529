"""Pages of the site that are not in docs/: those that lie elsewhere in the repository, and the reference of the public API.

MkDocs calls the functions of this file. The links of a page lead to other pages of the site as they do in the repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[2]
# Pages of the site whose source is outside of docs/, each with its source.
ELSEWHERE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    **{
        f"plugins/{path.parent.name.removeprefix('sublex_')}.md": str(path.relative_to(ROOT))
        for path in ROOT.glob("plugins/*/README.md")
    },
}
# The pages of the reference: a title, a sentence, and what each describes.
REFERENCE = {
    "functions": ("Functions", "What `import sublex` offers.", ["sublex"]),
    "indexes": ("Indexes and pipelines", "What `sublex.open` and `sublex.build` return.", [
        "sublex.pipeline.index.Index", "sublex.pipeline.contents.Contents", "sublex.pipeline.pipeline.Pipeline",
        "sublex.language.expression.Expression",
    ]),
    "results": (
        "Results",
        "What searching and building return; [For plugins](plugins.md) has queries, documents and explanations.",
        ["sublex.retrieval.hits", "sublex.building.build_summary.BuildSummary"],
    ),
    "evaluation": ("Topics, runs, evaluation", "What the functions for TREC's files and measures return.", [
        "sublex.trec.topics.Topics", "sublex.trec.topics.Topic", "sublex.trec.qrels.Qrels", "sublex.trec.runs.Run",
        "sublex.evaluation.run_evaluation.Evaluation", "sublex.evaluation.comparison.Comparison", "sublex.tuning.result.Tuning",
    ]),
    "plugins": ("For plugins", "The contracts between the engine and plugins; [Plugins](../plugins.md) says how to write one.", [
        "sublex.contracts.hookspecs", "sublex.contracts.base", "sublex.contracts.fitted", "sublex.contracts.stored",
        "sublex.contracts.labels", "sublex.contracts.foreign", "sublex.testing",
    ]),
    "operations": ("Operations", "How commands of plugins are declared.", [
        "sublex.operations.declaring", "sublex.operations.context.OperationContext", "sublex.operations.parameters", "sublex.forms.lines",
    ]),
}  # fmt: skip
_FENCES = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File

    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for name, (title, sentence, described) in REFERENCE.items():
        content = f"# {title}\n\n{sentence}\n\n" + "\n".join(map(_described, described))
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def _described(name: str) -> str:
    """Return the directive that describes a module, without those inside it, or a class with its methods.

    The classes of `sublex` that other pages describe are left out of its own.
    """
    classes = {"Hits", *(each.rpartition(".")[2] for _, _, names in REFERENCE.values() for each in names)}
    hidden = f'      filters: ["!^_", "!^({"|".join(sorted(classes))})$"]\n' if name == "sublex" else ""
    return f"::: {name}\n    options:\n      show_submodules: false\n{hidden}"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Return a page with links that lead to pages of the site."""
    here = page.file.src_uri
    return markdown if here.startswith("reference/") else with_links_of_the_site(markdown, here)


def with_links_of_the_site(markdown: str, here: str) -> str:
    """Return the text of a page of the site, called `here`, with links that lead to pages of the site.

    A link to anything else in the repository becomes its text. A link that leads nowhere stays, so that MkDocs reports it.
    """
    source = ELSEWHERE.get(here, f"docs/{here}")
    pages = {origin: made for made, origin in ELSEWHERE.items()}

    def changed(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        wanted = os.path.normpath(os.path.join(os.path.dirname(source), path))
        on_site = pages.get(wanted, wanted.removeprefix("docs/") if wanted.startswith("docs/") else "")
        if not on_site and (ROOT / wanted).exists():
            return text.lstrip("!")[1:-1]
        return f"{text}({os.path.relpath(on_site or path, os.path.dirname(here) or '.')}{mark}{anchor})"

    parts = _FENCES.split(markdown)
    return "".join(part if place % 2 else _LINK.sub(changed, part) for place, part in enumerate(parts))
