"""Hooks of the docs site: the API pages, the formulas, and no request to anywhere else.

mkdocs calls the functions named ``on_...``. Knows which modules are public and how a formula is
marked; ignorant of what the pages say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

SOURCE = Path(__file__).resolve().parent.parent / "src" / "haltwise"

API = {
    "haltwise": "The public names",
    "haltwise.record": "Episodes, their files and readers",
    "haltwise.signals": "Verdicts on results",
    "haltwise.enforce": "Messages to decision, decision to structure",
    "haltwise.audit": "Findings on recorded runs",
    "haltwise.calibrate": "Records to fitted parameters",
    "haltwise.replay": "Rules over recorded loops, and exactly",
    "haltwise.stats": "Arrays in, estimates out",
    "haltwise.simulated": "Agents and loops with known parameters",
    "haltwise.judges": "Models that give verdicts and votes",
    "haltwise.adapters": "Inside agent frameworks",
    "haltwise.report": "Pages and charts",
    "haltwise.testing": "The kit that extensions are checked with",
}
"""Packages whose names people may use, with what they hold; each becomes a page ``api/NAME.md``."""


def public_modules(package: str) -> list[str]:
    """Return what the page of a package documents: where it has no ``__all__``, its files too."""
    folder = SOURCE.joinpath(*package.split(".")[1:])
    body = ast.parse((folder / "__init__.py").read_text("utf-8")).body
    names = {
        target.id
        for statement in body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    if "__all__" in names:
        return [package]
    files = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    return [package, *(f"{package}.{stem}" for stem in files)]


def api_page(package: str) -> str:
    """Return the Markdown of one API page."""
    modules = public_modules(package)
    parts = [f"# {package}\n\n{API[package]}.\n"]
    for module in modules:
        parts.append(f"::: {module}\n")
        if module == package:
            parts.append("    options:\n      heading_level: 2\n      show_root_heading: false\n")
            parts.append("      show_root_toc_entry: false\n")
    return "\n".join(parts)


def on_files(files: Files, config: Any) -> Files:
    """Add the API pages."""
    for package in API:
        files.append(File.generated(config, f"api/{package}.md", content=api_page(package)))
    return files


def _filled(nav: list[Any], docs: Path) -> list[Any]:
    """Return the navigation with each ``folder/*.md`` as the list of the pages in that folder."""
    filled = []
    for entry in nav:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            target = _filled(target, docs)
        elif target == "api/*.md":
            target = [{package: f"api/{package}.md"} for package in API]
        elif target.endswith("/*.md"):
            target = [str(page.relative_to(docs)) for page in sorted(docs.glob(target))]
        filled.append({title: target})
    return filled


# Formulas, written as GitHub reads them (```math blocks, $`inline`$), become MathML.


def block(source: str, *_: Any, **__: Any) -> str:
    """Return a ```math block as MathML; the shape that superfences asks for."""
    return convert(source, display="block")


class _Inline(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:
        formula = fromstring(
            convert(m[1]).replace('xmlns="http://www.w3.org/1998/Math/MathML"', "")
        )
        return formula, m.start(0), m.end(0)


class Formulas(Extension):
    """Inline formulas."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Read $`...`$ before code spans do."""
        md.inlinePatterns.register(_Inline(r"\$`([^`]+)`\$", md), "formula", 200)


def on_config(config: Any) -> Any:
    """Let the pages hold formulas, and the navigation ``folder/*.md``."""
    config["nav"] = _filled(config["nav"], Path(config["docs_dir"]))
    config["markdown_extensions"].append(Formulas())
    fences = config["mdx_configs"].setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "math", "class": "math", "format": block}]
    return config


# Nothing is loaded from elsewhere.

FALLBACKS = re.compile(rb"https://unpkg\.com/[\w./-]+")
"""Scripts that the theme would fetch for diagrams and for browsers of 2019; no page needs them."""
CSS_URL = re.compile(r"(?:@import\s+|url\()\s*[\"']?(https?:)?//")
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "manifest", "modulepreload"}


class _Loads(HTMLParser):
    """Collects what a page would load from another host."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(LOADS.get(tag, ""))
        if tag == "link" and LINKS & set((values.get("rel") or "").split()):
            address = values.get("href")
        if address and re.match(r"(https?:)?//", address):
            self.found.append(address)
        if CSS_URL.search(values.get("style") or ""):
            self.found.append(values["style"] or "")


def loaded_from_elsewhere(text: str, suffix: str) -> Iterator[str]:
    """Yield what a page or style sheet asks another host for."""
    if suffix == ".html":
        page = _Loads()
        page.feed(text)
        yield from page.found
    elif suffix in (".css", ".svg"):
        yield from (match[0] for match in CSS_URL.finditer(text))


def on_post_build(config: Any) -> None:
    """Cut the theme's fallbacks to a CDN, and refuse a site that loads anything from elsewhere."""
    site = Path(config["site_dir"])
    for path in site.rglob("*.js"):
        code = path.read_bytes()
        if FALLBACKS.search(code):
            path.write_bytes(FALLBACKS.sub(b"data:,", code))
    found = [
        f"{path.relative_to(site)} loads {address}"
        for path in sorted(site.rglob("*"))
        if path.suffix in (".html", ".css", ".svg")
        for address in loaded_from_elsewhere(path.read_text("utf-8"), path.suffix)
    ]
    if found:
        raise PluginError("the pages must load nothing from other hosts:\n" + "\n".join(found))
