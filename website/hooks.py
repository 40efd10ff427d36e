"""Hooks of MkDocs: pages made from files of the repository, and links that leave docs/.

In the repository a page links to a source file by its path, such as ../hotmem/recall.py. The site
has no such file: the hook links to the repository instead.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]

PAGES: Final = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "measurements.md": "eval/RESULTS.md",
}
"""Pages of the site that are files elsewhere in the repository."""

_LINK: Final = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]*)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of `PAGES`."""
    for page, source in PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link to the repository for every file that is not a page of the site."""
    path = page.file.src_uri
    source = PurePosixPath(PAGES.get(path, f"docs/{path}"))
    places = {original: generated for generated, original in PAGES.items()}

    def rewritten(link: re.Match[str]) -> str:
        target, anchor = normpath(source.parent / link[1]), link[2] or ""
        inside = places.get(target, target.removeprefix("docs/"))
        if (target in places or target.startswith("docs/")) and files.get_file_from_path(inside):
            depth = len(PurePosixPath(path).parts) - 1
            return "../" * depth + inside + anchor
        if (ROOT / target).exists():
            return f"{config.extra['repository']}/blob/main/{target}{anchor}"
        return link[0]

    return _LINK.sub(lambda link: rewritten(link) if link[1] else link[0], markdown)
