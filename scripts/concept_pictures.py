"""Draws the pictures of docs/concepts.md: ``docs/assets/concept-*.svg``. ``make pictures`` runs it.

Where a picture has numbers, haltwise computes them here, from rules and noise models: nothing is
drawn at random, and running it again gives the same bytes. Knows how to draw; ignorant of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from haltwise import RepairLoop, SearchLoop, parse_policy
from haltwise.core.noise import NoiseModel
from haltwise.record.policy_file import load_policy
from haltwise.replay.exact import evaluate

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
STYLE = """
.paper{fill:#fff}.ink{fill:#1f2328}.soft{fill:#57606a}.line{stroke:#57606a;fill:none}
.grid{stroke:#e3e7eb;fill:none}.box{fill:#f3f5f7;stroke:#57606a}
.good{fill:#1a7f5a}.bad{fill:#b42318}.goodline{stroke:#1a7f5a;fill:none}
.badline{stroke:#b42318;fill:none}text{font:14px Helvetica,Arial,sans-serif}
.small{font-size:12px}.bold{font-weight:bold}.mono{font-family:monospace}
@media(prefers-color-scheme:dark){.paper{fill:#16191d}.ink{fill:#f0f2f4}.soft{fill:#a7b0ba}
.line{stroke:#a7b0ba}.grid{stroke:#32383f}.box{fill:#22272d;stroke:#a7b0ba}
.good{fill:#54c79a}.bad{fill:#ff8a7a}.goodline{stroke:#54c79a}.badline{stroke:#ff8a7a}}
"""
"""One look in light and in dark; the paper is drawn, so that a page of any colour can hold it."""


class Picture:
    """An SVG drawing with a title that a screen reader says."""

    def __init__(self, title: str, width: int, height: int) -> None:
        """Start with an empty paper."""
        self.title, self.width, self.height = title, width, height
        self.parts: list[str] = []

    def text(
        self, x: float, y: float, words: str, look: str = "ink", anchor: str = "start"
    ) -> None:
        """Write words with their baseline at y."""
        place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self.parts.append(f'<text {place} class="{look}">{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, look: str = "box") -> None:
        """Draw a box."""
        size = f'width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" {size} rx="4" class="{look}"/>')

    def line(
        self, points: list[tuple[float, float]], look: str = "line", arrow: bool = False
    ) -> None:
        """Draw a line through points, perhaps with a head."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(f'<polyline points="{path}" class="{look}" stroke-width="2"{head}/>')

    def dot(self, x: float, y: float, look: str) -> None:
        """Draw a dot."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{look}"/>')

    def svg(self) -> str:
        """Return the file."""
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
            'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" class="soft"/></marker>'
        )
        size = f'width="{self.width}" height="{self.height}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
            f'viewBox="0 0 {self.width} {self.height}"><title>{escape(self.title)}</title>'
            f"<style>{STYLE}</style><defs>{head}</defs>"
            f'<rect {size} rx="6" class="paper"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )


def run() -> Picture:
    """Draw a search loop: verdicts, the run that they make, and where a rule stops it."""
    verdicts = ["useless", "useful", *["useless"] * 5, "useless"]
    loop = SearchLoop(parse_policy("streak(5)"))
    picture = Picture("A run of five useless results, and the stop that it causes", 720, 190)
    for label, y in (("step", 35), ("verdict", 75), ("run", 105), ("streak(5)", 135)):
        picture.text(20, y, label, "soft")
    length = 0
    for step, verdict in enumerate(verdicts, start=1):
        x = 110 + 72 * (step - 1)
        stopped = loop.decision.stops
        length = length + 1 if verdict == "useless" else 0
        decision = loop.observe(verdict)
        if stopped:
            picture.text(x + 28, 35, "answer", "good bold", "middle")
            picture.box(x, 50, 56, 95)
            picture.text(x + 28, 102, "tools off", "soft small", "middle")
            break
        picture.text(x + 28, 35, f"search {step}", "ink", "middle")
        picture.box(x, 50, 56, 95)
        picture.text(x + 28, 75, verdict, f"{'bad' if length else 'good'} small", "middle")
        picture.text(x + 28, 105, str(length), "ink bold", "middle")
        said = ("stop", "bad bold small") if decision.stops else ("go on", "soft small")
        picture.text(x + 28, 135, *said, "middle")
    picture.text(110, 175, loop.decision.reason, "soft small")
    return picture


def truncation() -> Picture:
    """Draw one recorded episode with answers forced on copies: what every rule would have got."""
    picture = Picture("One recording, every rule: a rule cuts the episode where it fires", 720, 200)
    last = 7
    outcomes = [False, False, True, True, True, True, True]
    for step in range(1, last + 1):
        x = 60 + 88 * (step - 1)
        picture.box(x, 35, 60, 40)
        picture.text(x + 30, 60, f"result {step}", "ink small", "middle")
        picture.line([(x + 60, 55), (x + 86, 55)], arrow=True)
        picture.line([(x + 30, 75), (x + 30, 118)], arrow=True)
        right = outcomes[step - 1]
        words, look = ("right", "good small") if right else ("wrong", "bad small")
        picture.text(x + 30, 135, words, look, "middle")
    picture.text(690, 60, "end", "bad small", "middle")
    picture.text(60, 20, "the agent, as recorded: it searches to its end", "soft small")
    picture.text(60, 160, "asked for its answer on a copy, at every step", "soft small")
    words = "streak(5) would have got the answer below result 5, streak(3) the one below result 3"
    picture.text(60, 185, words, "ink small")
    return picture


def wreck() -> Picture:
    """Draw what a loop reports against what is true, round by round."""
    noise = NoiseModel(rho0=0.3, rho1=0.45, alpha=0.1, beta=0.8, valid=0.7)
    found = evaluate(load_policy("majority"), noise, votes=3, rounds=5)
    return _rounds(
        "Ever more plans are accepted, and fewer are valid than without any repair",
        [
            ("reported: accepted by most votes", found.acceptance_by_round, "good"),
            ("true: really valid", found.validity_by_round, "bad"),
        ],
        "until a majority accepts; 3 votes, rho0 .3, rho1 .45, alpha .1, beta .8",
    )


def belief() -> Picture:
    """Draw how votes move the belief, and the threshold at which a rule delivers."""
    noise = "noise(rho0=.3, rho1=.2, alpha=.25, beta=.1, valid=.6)"
    loop = RepairLoop(parse_policy(f"vrr_stop({noise})"))
    beliefs, threshold = [], 0.0
    for plan, accepts in enumerate([3, 4, 5, 7]):
        loop.observe(plan, accepts, votes=8)
        beliefs.append(float(loop.evidence["belief"]))
        threshold = float(loop.evidence["threshold"])
    return _rounds(
        "The belief that the newest plan is valid, and the threshold that stops the loop",
        [
            ("belief after 3, 4, 5 and 7 of 8 accepts", tuple(beliefs), "good"),
            (f"b* = {threshold:.2f}: deliver from here on", (threshold,) * len(beliefs), "bad"),
        ],
        f"{loop.decision.reason}",
    )


def _rounds(title: str, tracks: list[tuple[str, tuple[float, ...], str]], caption: str) -> Picture:
    picture = Picture(title, 720, 300)
    picture.text(60, 28, title, "ink bold")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = 230 - 150 * share
        picture.line([(60, y), (400, y)], "grid")
        picture.text(52, y + 4, f"{share:g}", "soft small", "end")
    rounds = len(tracks[0][1])
    for k in range(rounds):
        x = 60 + 340 * k / (rounds - 1)
        picture.text(x, 250, str(k), "soft small", "middle")
    picture.text(230, 268, "round", "soft small", "middle")
    for name, values, look in tracks:
        points = [
            (60 + 340 * k / (rounds - 1), 230 - 150 * value) for k, value in enumerate(values)
        ]
        picture.line(points, f"{look}line")
        for x, y in points:
            picture.dot(x, y, look)
        picture.text(415, points[-1][1] + 5, f"{values[-1]:.2f}  {name}", f"{look} small")
    picture.text(60, 290, caption, "soft small")
    return picture


def enforcement() -> Picture:
    """Draw a request that passes a rule, and one that it stops."""
    picture = Picture("Enforcement: the request without tools, the answer demanded", 720, 190)
    for y, run_, sent, look in (
        (30, "run 4", "tools, history", "soft"),
        (110, "run 5", "history, no tools, 'answer now'", "bad"),
    ):
        picture.box(20, y, 130, 50)
        picture.text(85, y + 22, "agent's request", "ink small", "middle")
        picture.text(85, y + 40, "tools, history", "soft small", "middle")
        picture.line([(150, y + 25), (238, y + 25)], arrow=True)
        picture.box(240, y, 140, 50)
        picture.text(310, y + 22, "streak(5)", "ink bold small", "middle")
        picture.text(310, y + 40, f"{run_}, from the history", "soft small", "middle")
        picture.line([(380, y + 25), (578, y + 25)], arrow=True)
        picture.text(479, y + 17, sent, f"{look} small", "middle")
        picture.box(580, y, 110, 50)
        picture.text(635, y + 30, "model", "ink small", "middle")
    picture.text(
        20, 182, "Nothing is kept between requests: each one carries its history.", "soft small"
    )
    return picture


def cycle() -> Picture:
    """Draw the life cycle."""
    picture = Picture("audit, calibrate, replay, enforce, and audit again", 720, 110)
    stations = [
        ("audit", "what is wrong?"),
        ("calibrate", "how noisy is it?"),
        ("replay", "which rule pays?"),
        ("enforce", "make it stop"),
    ]
    for place, (name, question) in enumerate(stations):
        x = 20 + 178 * place
        picture.box(x, 20, 140, 50)
        picture.text(x + 70, 42, name, "ink bold", "middle")
        picture.text(x + 70, 60, question, "soft small", "middle")
        if place < 3:
            picture.line([(x + 140, 45), (x + 176, 45)], arrow=True)
    picture.line([(624, 70), (624, 92), (90, 92), (90, 72)], arrow=True)
    picture.text(357, 88, "records", "soft small", "middle")
    return picture


PICTURES: dict[str, Callable[[], Picture]] = {
    "run": run,
    "truncation": truncation,
    "wreck": wreck,
    "belief": belief,
    "enforcement": enforcement,
    "cycle": cycle,
}
"""Every picture by name; the file is ``concept-NAME.svg``."""

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (ASSETS / f"concept-{name}.svg").write_text(draw().svg(), "utf-8")
