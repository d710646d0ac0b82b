"""A Markdown file of a folder brain, of any bytes."""

from __future__ import annotations

from hooks.context.brains import front_matter as pages
from hooks.context.brains.file_page import from_page, grave_on, grave_page


def front_matter(data: bytes) -> object:
    page = pages.parse(data)
    if isinstance(page, str):
        return page.lstrip("line 0123456789")[:16]
    again = pages.parse(pages.encode(page.fields, page.body))
    assert isinstance(again, pages.Page)
    assert (again.fields, again.body) == (page.fields, page.body)
    _change(data, page)
    memory = from_page(page, "notes/a.md")
    grave = grave_on(page, "0" * 32)
    if grave is not None:
        read = pages.parse(grave_page(grave))
        assert isinstance(read, pages.Page)
        assert grave_on(read, "0" * 32) == grave
    return memory[:20] if isinstance(memory, str) else tuple(sorted(page.fields))[:4], page.odd[:2]


def _change(data: bytes, page: pages.Page) -> None:
    """One field set changes that field only."""
    try:
        changed = pages.parse(pages.set_fields(data, {"title": "a: #b"}))
    except ValueError:
        assert "title" in page.odd
        return
    assert isinstance(changed, pages.Page), changed
    assert changed.fields == {**page.fields, "title": "a: #b"}
    assert changed.body == page.body
