"""The hooks of the docs site: public modules, formulas, and nothing loaded from elsewhere.

``make docs`` builds the site; it is the test of everything that mkdocs itself checks (dead links,
pages that the navigation leaves out). Here is what it would not notice.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """The hooks, loaded as mkdocs does."""
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "scripts/docs_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_site"] = module
    spec.loader.exec_module(module)
    return module


def test_every_package_that_people_use_has_an_api_page(site: ModuleType) -> None:
    """A new folder gets a page, or is named here as one that people do not import from."""
    inside = {"cli", "core", "gateway", "study"}
    folders = {path.parent.name for path in (ROOT / "src/haltwise").glob("*/__init__.py")}
    assert {name.removeprefix("haltwise.") for name in site.API} - {"haltwise"} == folders - inside


def test_a_page_documents_all_files_of_a_package_without_public_names(site: ModuleType) -> None:
    """`haltwise.stats` loads nothing, so that its files are documented one by one."""
    assert site.public_modules("haltwise") == ["haltwise"]
    files = {path.stem for path in (ROOT / "src/haltwise/stats").glob("[!_]*.py")}
    page = site.api_page("haltwise.stats")
    assert set(re.findall(r"^::: haltwise\.stats\.(\w+)$", page, re.MULTILINE)) == files


def test_formulas_become_mathml(site: ModuleType) -> None:
    """Inline and display formulas need no script in the page; a code span stays one."""
    from markdown import Markdown

    fence = {"custom_fences": [{"name": "math", "class": "math", "format": site.block}]}
    page = Markdown(
        extensions=[site.Formulas(), "pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": fence},
    )
    html = page.convert("See $`x_1`$ and `$x`.\n\n```math\n\\frac{a}{b}\n```\n")
    assert "<msub><mi>x</mi><mn>1</mn></msub>" in html
    assert "<code>$x</code>" in html
    assert re.search(r'display="block".*<mfrac>.*<mi>a</mi>.*<mi>b</mi>', html)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".html", '<script src="https://cdn.example/x.js"></script>'),
        (".html", '<link rel="stylesheet" href="//fonts.example/css">'),
        (".html", '<img alt="" src="http://pictures.example/a.png">'),
        (".html", "<p style=\"background: url('https://pictures.example/a.png')\">"),
        (".css", '@import "https://fonts.example/css";'),
        (".svg", "@font-face { src: url(https://fonts.example/a.woff2) }"),
    ],
)
def test_what_a_page_would_load_is_seen(site: ModuleType, suffix: str, text: str) -> None:
    """Scripts, styles, pictures and fonts of another host are found."""
    assert len(list(site.loaded_from_elsewhere(text, suffix))) == 1


def test_links_are_no_requests(site: ModuleType) -> None:
    """What a reader may click, and what lies beside the page, is left alone."""
    text = '<a href="https://example.org">x</a><img src="a.svg"><link rel="canonical" href="//x">'
    assert list(site.loaded_from_elsewhere(text, ".html")) == []


def test_the_navigation_lists_a_folder(site: ModuleType, tmp_path: Path) -> None:
    """``folder/*.md`` becomes its pages in order, at any depth; other entries stay."""
    (tmp_path / "adapters").mkdir()
    for name in ("b.md", "a.md"):
        (tmp_path / "adapters" / name).touch()
    nav = [{"Home": "index.md"}, {"Use": [{"In": "adapters/*.md"}]}, {"API": "api/*.md"}]
    home, use, api = site._filled(nav, tmp_path)
    assert home == {"Home": "index.md"}
    assert use == {"Use": [{"In": ["adapters/a.md", "adapters/b.md"]}]}
    assert [next(iter(page)) for page in api["API"]] == list(site.API)
