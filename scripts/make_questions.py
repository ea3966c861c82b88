"""Writes the bundled question set: 64 two-hop questions over 128 short pages.

Half of the questions are about the real world, so that a model may know the answer without any
search; the other half are about people and things invented here, so that nobody can. Every
question needs two pages: the first names a person or a place, the second holds the answer. The
eight distractors of a question are pages of the same family. The facts are common knowledge, the
wording is the project's own.

    python scripts/make_questions.py > src/haltwise/study/search/data/questions.json
"""

from __future__ import annotations

import json
import random
from typing import Any

# (city, what the city is known for, country, what the country is known for, currency)
CAPITALS = [
    ("Canberra", "It was planned around an artificial lake in the 1910s", "Australia",
     "Most of its people live near the coast", "Australian dollar"),
    ("Warsaw", "Its old town was rebuilt after the Second World War", "Poland",
     "It has a coast on the Baltic Sea", "zloty"),
    ("Budapest", "It grew together from towns on both banks of the Danube", "Hungary",
     "It is landlocked and known for its thermal baths", "forint"),
    ("Bangkok", "Canals and markets fill its older quarters", "Thailand",
     "It was never a colony of a European power", "baht"),
    ("Hanoi", "Lakes lie scattered through its centre", "Vietnam",
     "It stretches along the South China Sea", "dong"),
    ("Ankara", "It lies on a high plateau in Anatolia", "Turkey",
     "Its territory lies in both Asia and Europe", "lira"),
    ("Tokyo", "It was called Edo until 1868", "Japan",
     "It consists of four main islands and many small ones", "yen"),
    ("Kyiv", "It lies on the river Dnieper", "Ukraine",
     "It is known for its black earth and its wheat", "hryvnia"),
    ("New Delhi", "Its wide avenues were laid out in the early twentieth century", "India",
     "It has more than a billion inhabitants", "rupee"),
    ("Brasilia", "It was built from nothing in the late 1950s", "Brazil",
     "It holds most of the Amazon rainforest", "real"),
    ("Seoul", "The river Han divides it", "South Korea",
     "It is known for its shipyards and electronics", "won"),
    ("Moscow", "Its fortress and red-brick walls stand by a river of the same name", "Russia",
     "It spans eleven time zones", "ruble"),
]  # fmt: skip

# (work, kind, doing, maker, about the maker, birthplace)
WORKS = [
    ("Hamlet", "tragedy", "written by", "William Shakespeare",
     "He was an actor and a shareholder of a London theatre company", "Stratford-upon-Avon"),
    ("Guernica", "large painting", "painted by", "Pablo Picasso",
     "He spent most of his adult life in France", "Malaga"),
    ("The Magic Flute", "opera", "composed by", "Wolfgang Amadeus Mozart",
     "He toured Europe as a child prodigy", "Salzburg"),
    ("Fidelio", "opera", "composed by", "Ludwig van Beethoven",
     "He went on composing after he had lost his hearing", "Bonn"),
    ("The Four Seasons", "set of violin concertos", "composed by", "Antonio Vivaldi",
     "He was a priest and taught at an orphanage", "Venice"),
    ("Pride and Prejudice", "novel", "written by", "Jane Austen",
     "She published her novels without her name", "Steventon"),
    ("The Metamorphosis", "novella", "written by", "Franz Kafka",
     "He worked for an insurance office", "Prague"),
    ("The Ugly Duckling", "fairy tale", "written by", "Hans Christian Andersen",
     "He also wrote travel books and cut figures from paper", "Odense"),
    ("Brandenburg Concertos", "group of six concertos", "composed by", "Johann Sebastian Bach",
     "He was a church musician in Leipzig for 27 years", "Eisenach"),
    ("Ulysses", "novel", "written by", "James Joyce",
     "He wrote most of his books abroad", "Dublin"),
    ("A Doll's House", "play", "written by", "Henrik Ibsen",
     "He lived in Italy and Germany for many years", "Skien"),
    ("The Divine Comedy", "long poem", "written by", "Dante Alighieri",
     "He was driven into exile and never returned", "Florence"),
]  # fmt: skip

# (thing, what it is, how it began, person, about the person, birthplace)
FINDS = [
    ("Penicillin", "an antibiotic", "discovered by", "Alexander Fleming",
     "He was a bacteriologist at a hospital in London", "Scotland"),
    ("Radium", "a radioactive metal", "discovered by", "Marie Curie",
     "She won Nobel Prizes in two sciences", "Warsaw"),
    ("General relativity", "a theory of gravity", "published by", "Albert Einstein",
     "He once worked in a patent office", "Ulm"),
    ("Dynamite", "an explosive", "invented by", "Alfred Nobel",
     "He left his fortune to prizes that bear his name", "Stockholm"),
    ("Periodic table", "an ordering of the chemical elements", "devised by", "Dmitri Mendeleev",
     "He predicted elements that had not been found yet", "Tobolsk"),
    ("Voltaic pile", "the first electric battery", "built by", "Alessandro Volta",
     "He taught physics at Pavia for decades", "Como"),
    ("Linux kernel", "the core of a free operating system", "started by", "Linus Torvalds",
     "He began his best-known program as a student", "Helsinki"),
    ("Diesel engine", "an engine without spark plugs", "invented by", "Rudolf Diesel",
     "He vanished from a steamer in the English Channel", "Paris"),
]  # fmt: skip

FIRST = """
    Ada Bram Celia Dorian Edda Fenn Greta Hollis Ines Jorun Kester Lida Marek Nadia Osric
    Petra Quill Runa Silas Tamsin Ulric Vera Wendel Xenia Yorick Zelda Anselm Birgit
    Corwin Delphine Emeric Fiora
""".split()  # noqa: SIM905
LAST = """
    Aldermoor Brockhurst Castellane Dunmarrow Eskelund Farrowgate Grimsdale Haverstock
    Ingleby Jessamy Kestrelton Lorimund Maddersley Northolt Ostrander Pellworth Quenby
    Ravenscar Saltmarsh Thistlewood Umberlake Vandermeel Wexcombe Yarrowby Ashgrove
    Bellwether Coldbrook Drummel Everslade Foxholme Gravenor Hartsease
""".split()  # noqa: SIM905
TOWNS = ["Mirefold", "Osselby", "Trindholm", "Calverwick", "Puddlemere", "Stannaford", "Wychbourne",
         "Eldermouth"]  # fmt: skip
SCHOOLS = ["Varnholt", "Kelmarsh", "Tessaly", "Obermoor", "Lindqvist", "Harrowgate", "Sundermere",
           "Pontavel"]  # fmt: skip
INSTRUMENTS = ["bassoon", "zither", "cello", "accordion", "oboe", "mandolin", "harp", "trombone"]
PORTS = ["Skerrow", "Port Ambrel", "Gullhaven", "Nareth", "Tollbay", "Vantry", "Cinderquay",
         "Westerlock"]  # fmt: skip
NOVELS = ["The Salt Ledger", "Winter Orchard", "A Lantern for Ivo", "The Cartographer's Debt",
          "Seven Quiet Doors", "The Glass Ferry", "Ashes in the Granary",
          "The Understudy's Map"]  # fmt: skip
BRIDGES = ["Harrow Bridge", "Tamber Viaduct", "Orlen Footbridge", "Cassel Aqueduct",
           "Merrow Causeway", "Lunt Drawbridge", "Dovecote Span", "Pelham Crossing"]  # fmt: skip
FIRMS = ["Brightwater Looms", "Kobold Lamps", "Sparrow Cycles", "Thornfield Clocks",
         "Umber Ceramics", "Finch Typewriters", "Marlow Kites", "Oakhollow Pianos"]  # fmt: skip
SHIPS = ["Grey Petrel", "Lady Amaranth", "Northern Thimble", "Corvina", "Patient Heron",
         "Silver Adder", "Wandering Quern", "Old Meridian"]  # fmt: skip


def article(word: str) -> str:
    """Return the word with its indefinite article."""
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


class Family:
    """Pairs of pages of one kind, and the questions over them."""

    def __init__(self, name: str, common: bool) -> None:
        self.name, self.common = name, common
        self.rows: list[dict[str, Any]] = []

    def add(
        self, question: str, answer: str, first: tuple[str, list[str]],
        second: tuple[str, list[str]], hop: int, end: int,
    ) -> None:  # fmt: skip
        """Add a question; ``hop`` and ``end`` are the sentences that support it."""
        self.rows.append(
            {"question": question, "answer": answer, "first": first, "second": second,
             "support": [[first[0], hop], [second[0], end]]}
        )  # fmt: skip


def real() -> list[Family]:
    """Return the families whose answers may be known."""
    capitals = Family("capital", True)
    for city, about, country, land, money in CAPITALS:
        capitals.add(
            f"What is the name of the currency of the country whose capital is {city}?", money,
            (city, [f"{city} is the capital of {country}.", f"{about}."]),
            (country, [f"{country} is a country.", f"{land}.",
                       f"Its currency is called the {money}."]), 0, 2,
        )  # fmt: skip
    works = Family("work", True)
    for work, kind, doing, maker, about, place in WORKS:
        verb = {"written by": "wrote", "painted by": "painted", "composed by": "composed"}[doing]
        works.add(
            f"In which place was the person born who {verb} the {kind} {work}?", place,
            (work, [f"{work} is {article(kind)}.", f"It was {doing} {maker}.",
                    "It is among the best-known works of its kind."]),
            (maker, [f"{about}.", f"{maker} was born in {place}."]), 1, 1,
        )  # fmt: skip
    finds = Family("find", True)
    for thing, what, began, person, about, place in FINDS:
        name = thing if began == "discovered by" or thing == "Dynamite" else f"the {thing}"
        name = name if thing != "General relativity" else "the theory of general relativity"
        name = name[0].lower() + name[1:]
        finds.add(
            f"Where was the person born by whom {name} was {began.removesuffix(' by')}?", place,
            (thing, [f"{thing} is {what}.", f"It was {began} {person}."]),
            (person, [f"{person} was born in {place}.", f"{about}."]), 1, 0,
        )  # fmt: skip
    return [capitals, works, finds]


def invented(rng: random.Random) -> list[Family]:
    """Return the families that nobody can know."""
    first, last = FIRST[:], LAST[:]
    rng.shuffle(first)
    rng.shuffle(last)
    names = [f"{a} {b}" for a, b in zip(first, last, strict=True)]
    novels, bridges = Family("novel", False), Family("bridge", False)
    firms, ships = Family("firm", False), Family("ship", False)
    for place, (novel, person) in enumerate(zip(NOVELS, names[:8], strict=True)):
        year, town = rng.randrange(1890, 1990), TOWNS[place]
        novels.add(
            f"In which town was the author of the novel {novel} born?", town,
            (novel, [f"{novel} is a novel published in {year}.", f"Its author is {person}.",
                     f"The first printing sold {rng.randrange(2, 60)} thousand copies."]),
            (person, [f"{person} was a novelist who also kept bees.",
                      f"The writer was born in the town of {town}.",
                      f"{rng.choice(('Letters', 'Diaries', 'Notebooks'))} from the early years "
                      "were lost in a fire."]), 1, 1,
        )  # fmt: skip
    for place, (bridge, person) in enumerate(zip(BRIDGES, names[8:16], strict=True)):
        school = f"{SCHOOLS[place]} University"
        bridges.add(
            f"At which university did the engineer of the {bridge} study?", school,
            (bridge, [f"The {bridge} is {rng.randrange(60, 900)} metres long.",
                      f"It opened in {rng.randrange(1870, 1995)}.",
                      f"The engineer {person} designed it."]),
            (person, [f"{person} studied engineering at {school}.",
                      f"Work on roads and harbours filled the {rng.randrange(12, 40)} years "
                      "that followed."]), 2, 0,
        )  # fmt: skip
    for place, (firm, person) in enumerate(zip(FIRMS, names[16:24], strict=True)):
        instrument = INSTRUMENTS[place]
        firms.add(
            f"Which instrument does the founder of the company {firm} play?", instrument,
            (firm, [f"{firm} is a company with {rng.randrange(20, 900)} employees.",
                    f"It was founded by {person} in {rng.randrange(1950, 2015)}."]),
            (person, [f"{person} is a company founder and trained as a joiner.",
                      "A first workshop failed after two years.",
                      f"In the evenings the founder plays the {instrument}."]), 1, 2,
        )  # fmt: skip
    for place, (ship, person) in enumerate(zip(SHIPS, names[24:32], strict=True)):
        ships.add(
            f"In which harbour town did the captain of the ship {ship} grow up?", PORTS[place],
            (ship, [f"The {ship} is a {rng.choice(('schooner', 'steamer', 'brig'))} launched in "
                    f"{rng.randrange(1840, 1930)}.", f"Its captain for many years was {person}."]),
            (person, [f"{person} went to sea at the age of {rng.randrange(13, 19)}.",
                      f"The captain grew up in the harbour town of {PORTS[place]}."]), 1, 1,
        )  # fmt: skip
    return [novels, bridges, firms, ships]


def build(seed: int = 20) -> dict[str, Any]:
    """Return the whole set: pages by title, and the questions that point to them."""
    rng = random.Random(seed)
    pages: dict[str, list[str]] = {}
    questions = []
    for family in [*real(), *invented(rng)]:
        for number, row in enumerate(family.rows):
            pages.update([row["first"], row["second"]])
            others = [other for other in family.rows if other is not row]
            chosen = rng.sample(others, 4)
            titles = [row["first"][0], row["second"][0]]
            for other in chosen:
                titles += [other["first"][0], other["second"][0]]
            rng.shuffle(titles)
            questions.append(
                {"id": f"{family.name}-{number + 1:02d}", "question": row["question"],
                 "answer": row["answer"], "common": family.common,
                 "supporting": row["support"], "pages": titles}
            )  # fmt: skip
    return {"schema": "haltwise.questions/1", "pages": pages, "questions": questions}


if __name__ == "__main__":
    print(json.dumps(build(), indent=1, ensure_ascii=False))
