"""Check the built site: `python -m website.check site`.

Every link leads to a page and an anchor that exist, every picture is there, and nothing is loaded
from another host when a page is viewed.
"""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LOADED: Final = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
"""Elements whose target the browser loads by itself, and the attribute that names it."""

NOT_LOADED: Final = {"canonical", "prev", "next", "alternate"}
"""Kinds of <link> that only name an address."""


@dataclass(slots=True)
class Parsed(HTMLParser):
    """What a page refers to.

    Attributes:
        anchors: Ids that links can lead to.
        links: Targets of links.
        loaded: What the browser loads.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the ids and targets of an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif values.get(LOADED.get(tag, ""), "") and values.get("rel") not in NOT_LOADED:
            self.loaded.append(values[LOADED[tag]])


def problems(site: Path) -> list[str]:
    """What is wrong in a built site, one line each."""
    pages = {path: _parsed(path) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site)}: {problem}"
        for path, page in pages.items()
        if path.name != "404.html"  # its links are absolute, below the address of the site
        for problem in _problems(path, page, pages)
    ]


def _parsed(path: Path) -> Parsed:
    page = Parsed()
    page.feed(path.read_text("utf-8"))
    return page


def _problems(path: Path, page: Parsed, pages: dict[Path, Parsed]) -> list[str]:
    found = [f"{target} is loaded from elsewhere" for target in page.loaded if _remote(target)]
    for target in (*page.links, *page.loaded):
        if _remote(target) or target.startswith(("mailto:", "data:")):
            continue
        parts = urlsplit(target)
        file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        file = file / "index.html" if file.is_dir() else file
        if not file.exists():
            found.append(f"{target} leads nowhere")
        elif file in pages and unquote(parts.fragment) not in {"", *pages[file].anchors}:
            found.append(f"{target} has no such anchor")
    return found


def _remote(target: str) -> bool:
    return bool(urlsplit(target).netloc)


def main() -> None:
    """Print the problems of the site in the folder that is named, and exit with 1 if any."""
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    if found:
        sys.exit("\n".join(found))
    sys.stdout.write(f"{len(list(site.rglob('*.html')))} pages: every link leads somewhere.\n")


if __name__ == "__main__":
    main()
