"""Compile `java/sublex/Bulk.java`, and store the hashes of the source and of the class beside them. Only developers
need it.

python -m sublex_lucene.compile

Java's compiler (javac), version 11 or newer, must be on the path, and Anserini's jar must be installed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from sublex_lucene.installed import CLASSES, anserini_jar

SOURCE, CLASS, HASHES = (CLASSES / "sublex" / name for name in ("Bulk.java", "Bulk.class", "hashes.json"))


def hashes() -> dict[str, str]:
    """Return the hashes of the source file and of the class file, by the names of the files."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (SOURCE, CLASS)}


def compile_to(folder: Path) -> None:
    """Write the class for Java 11 and newer to a folder, without the names that only a debugger needs."""
    options = ["--release", "11", "-g:none", "-proc:none", "-cp", str(anserini_jar()), "-d", str(folder)]
    subprocess.run(["javac", *options, str(SOURCE)], check=True, stderr=subprocess.DEVNULL)


def main() -> None:
    """Compile the class into its place in the package, and write the hashes."""
    if anserini_jar() is None:
        sys.exit("No jar of Anserini; see sublex backends.")
    compile_to(CLASSES)
    HASHES.write_text(json.dumps(hashes(), indent=1) + "\n")


if __name__ == "__main__":
    main()
