"""Run the studies of the five papers in full, and write docs/papers.md from what they found.

    python benchmarks/papers.py COLLECTIONS FOLDER [PAPER …] [--page docs/papers.md]

COLLECTIONS is the folder of collections that `sublex reproduce PAPER --plan` lists. FOLDER gets the folder of each study. The
studies resume, so a run that was stopped goes on; all five take some hours. With names of papers, only these are run, and the
sections of the others stay as they are.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import textwrap
from pathlib import Path

PAPERS = {
    "fisher": "S. Clinchant and F. Perronnin, *Aggregating Continuous Word Embeddings for Information Retrieval*, 2013",
    "dcot": "Z. Xu, M. Chen, K. Weinberger and F. Sha, *An alternative text representation to TF-IDF and Bag-of-Words*, 2013",
    "sourcelda": "J. Wood, P. Tan, W. Wang and C. Arnold, *Source-LDA: Enhancing Probabilistic Topic Models Using Prior "
    "Knowledge Sources*, ICDE 2017",
    "swg": "R. Nallapati, A. Ahmed, W. Cohen and E. Xing, *Sparse Word Graphs: A Scalable Algorithm for Capturing Word "
    "Correlations in Topic Models*, 2007",
    "laki": "J. Liu, X. Ren, J. Shang, T. Cassidy, C. Voss and J. Han, *Representing Documents via Latent Keyphrase "
    "Inference*, WWW 2016",
}
BEGIN, END = "<!-- {}: written by benchmarks/papers.py -->", "<!-- end of {} -->"
HEAD = """# Five papers, measured

Sublex grew from five papers. `sublex reproduce PAPER --collections DIR` runs the experiments of one of them on open
data, and says of each result whether it holds. This page has what the full studies found. It is written by `python
benchmarks/papers.py COLLECTIONS FOLDER` and by nothing else; [Studies](studies.md#papers) explains the command, the
experiments, and the rules of the verdicts:

* *as published*: our figure is within the tolerance of the published one. The study fixes the tolerance before it runs.
* *better*: our figure is outside of the tolerance, on the better side.
* *same order*: of the systems that the paper ranks, no pair is significantly inverted.
* *disagrees*: neither; *not testable*: the row says why.
"""


def section(paper: str, collections: str, folder: Path) -> str:
    """Run the study of a paper, and return its section of the page."""
    command = ["reproduce", paper, "--collections", collections, "--out", str(folder / paper), "--format", "markdown"]
    found = subprocess.run([sys.executable, "-m", "sublex", *command], stdout=subprocess.PIPE, text=True, check=True)
    body = "\n".join([f"{PAPERS[paper]}.", "", *found.stdout.strip().splitlines()])
    return f"{BEGIN.format(paper)}\n\n## {paper}\n\n{wrapped(body)}\n\n{END.format(paper)}\n"


def wrapped(text: str) -> str:
    """Return a text in Markdown with its paragraphs and sentences of lists in lines of at most 120 characters."""
    lines = (
        [line]
        if line.startswith("|")
        else textwrap.wrap(line, 120, subsequent_indent="  " * line.startswith("* ")) or [""]
        for line in text.splitlines()
    )
    return "\n".join(part for each in lines for part in each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections")
    parser.add_argument("folder", type=Path)
    parser.add_argument("papers", nargs="*", choices=[*PAPERS, []])
    parser.add_argument("--page", type=Path, default=Path(__file__).parent.parent / "docs/papers.md")
    given = parser.parse_args()
    page = given.page.read_text() if given.page.exists() else ""
    given.folder.mkdir(parents=True, exist_ok=True)
    sections = []
    for paper in PAPERS:
        if not given.papers or paper in given.papers:
            sections.append(section(paper, given.collections, given.folder))
        else:
            found = re.search(f"{re.escape(BEGIN.format(paper))}.*?{re.escape(END.format(paper))}\n", page, re.DOTALL)
            sections += [found[0]] if found else []
    given.page.write_text("\n".join([HEAD, *sections]))


if __name__ == "__main__":
    main()
