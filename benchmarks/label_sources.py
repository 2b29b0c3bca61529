"""Short knowledge sources for `benchmarks/labels.py`: labels with 3 to 8 words, written from the meaning of each group.

A group is a newsgroup of 20 Newsgroups, a query of Medline, or a category of arXiv. The words were written before any model was fitted.
"""

from __future__ import annotations

from typing import NamedTuple


class Short(NamedTuple):
    """A label, its words, and the group of documents that it names."""

    label: str
    words: str
    group: str


NEWS = [
    Short("Atheism", "atheism atheist god belief religion morality", "alt.atheism"),
    Short("Computer graphics", "graphics image polygon rendering animation gif", "comp.graphics"),
    Short("Microsoft Windows", "windows microsoft dos driver", "comp.os.ms-windows.misc"),
    Short("PC hardware", "ide scsi motherboard bios controller disk", "comp.sys.ibm.pc.hardware"),
    Short("Macintosh", "mac apple quadra powerbook", "comp.sys.mac.hardware"),
    Short("X Window System", "xterm motif widget server xlib", "comp.windows.x"),
    Short("For sale", "sale offer shipping price", "misc.forsale"),
    Short("Cars", "car engine dealer mileage ford toyota", "rec.autos"),
    Short("Motorcycles", "motorcycle bike ride helmet", "rec.motorcycles"),
    Short("Baseball", "baseball pitcher batting inning league", "rec.sport.baseball"),
    Short("Ice hockey", "hockey goalie puck nhl playoff", "rec.sport.hockey"),
    Short("Cryptography", "encryption cipher key clipper privacy", "sci.crypt"),
    Short("Electronics", "circuit voltage resistor amplifier", "sci.electronics"),
    Short("Medicine", "disease patient doctor treatment symptoms", "sci.med"),
    Short("Space", "orbit nasa shuttle satellite moon launch", "sci.space"),
    Short("Christianity", "christ church bible jesus sin faith", "soc.religion.christian"),
    Short("Guns", "gun firearm weapon handgun", "talk.politics.guns"),
    Short("Middle East", "israel arab palestinian turkish armenian", "talk.politics.mideast"),
    Short("Politics", "president tax government congress", "talk.politics.misc"),
    Short("Religious debate", "cult religion scripture morality", "talk.religion.misc"),
]

MEDLINE = [
    Short("Crystalline lens", "lens eye cataract crystalline", "1"),
    Short("Oxygen in blood", "oxygen blood cerebrospinal polarography tension", "2"),
    Short("Electron microscopy of the lung", "lung alveolar electron microscopy bronchi", "3"),
    Short("Fatty acids and placenta", "placenta fetus fatty acid", "5"),
    Short("Ventricular septal defect", "ventricular septal aortic regurgitation", "6"),
    Short("Heart scanning", "scanning radioisotope pericardial effusion", "7"),
    Short("Hypothermia", "hypothermia cooling temperature surgery", "9"),
    Short("Immunology of tumours", "tumor antigen antibody immunity", "10"),
    Short("Lupus", "lupus erythematosus azathioprine", "12"),
    Short("Bacillus subtilis", "bacillus subtilis phage transduction dna", "13"),
    Short("Amyloidosis", "amyloidosis renal nephrotic", "14"),
    Short("Separation anxiety", "separation mother infant anxiety", "16"),
    Short("Nickel", "nickel deficiency toxicity", "17"),
    Short("Growth hormone", "growth hormone somatotropin pituitary bone", "20"),
    Short("Language of children", "language speech child words", "21"),
    Short("Mycoplasma", "mycoplasma chromosome culture infection", "22"),
    Short("Autism", "autistic autism schizophrenic children", "23"),
    Short("Growth of the kidney", "kidney hypertrophy nephrectomy compensatory", "24"),
    Short("Diabetes insipidus", "diabetes insipidus sodium chlorothiazide", "25"),
    Short("Hydrocephalus", "hydrocephalus ventricles cerebrospinal", "26"),
    Short("Filaria", "filaria mosquito parasite monkey", "27"),
    Short("Palliation of cancer", "cancer palliation carcinoma therapy", "28"),
    Short("Jaundice of the newborn", "jaundice biliary atresia hepatitis neonatal", "29"),
    Short("Hemophilia", "hemophilia bleeding factor christmas", "30"),
]

ARXIV = [
    Short("Networks", "network wireless routing protocol traffic", "cs.NI"),
    Short("Security", "attack encryption security malware", "cs.CR"),
    Short("Computational linguistics", "language sentence translation parsing words", "cs.CL"),
    Short("Algorithms", "algorithm approximation polynomial running time", "cs.DS"),
    Short("Distributed computing", "distributed parallel cluster cloud", "cs.DC"),
    Short("Logic", "logic calculus proof semantics", "cs.LO"),
    Short("Machine learning", "learning kernel regression classifier", "cs.LG"),
    Short("Robotics", "robot manipulator motion planning", "cs.RO"),
    Short("Control", "control feedback stability controller", "cs.SY"),
    Short("Social networks", "social community twitter users", "cs.SI"),
    Short("Software engineering", "software requirements testing development", "cs.SE"),
    Short("Computer vision", "image segmentation recognition face", "cs.CV"),
    Short("Information theory", "channel capacity coding decoding", "cs.IT"),
    Short("Game theory", "game equilibrium auction mechanism players", "cs.GT"),
    Short("Information retrieval", "retrieval search query documents", "cs.IR"),
    Short("Discrete mathematics", "graph vertices coloring edges", "cs.DM"),
    Short("Complexity", "complexity hardness np circuit", "cs.CC"),
    Short("Databases", "database query relational sql", "cs.DB"),
    Short("Neural and evolutionary computing", "evolutionary genetic neural swarm", "cs.NE"),
    Short("Programming languages", "compiler programming type language", "cs.PL"),
    Short("Geometry", "polygon convex triangulation points plane", "cs.CG"),
    Short("Digital libraries", "citation journal bibliometric scientific", "cs.DL"),
    Short("Automata", "automata languages regular finite", "cs.FL"),
    Short("Sound", "audio music speech acoustic", "cs.SD"),
]
