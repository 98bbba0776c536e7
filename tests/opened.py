"""Opened: a page in a real browser, and all that it said or asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page


class Opened:
    """A page in a browser, and all that it said or asked for."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        context = browser.new_context(**options)
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self.refuse)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url)
        self.ready()

    def refuse(self, dialog: Dialog) -> None:
        self.said.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-ready=yes]")

    def svg(self, name: str) -> str:
        return self.page.locator(f"#{name}-chart svg").inner_html()

    def choose(self, control: str, value: str) -> None:
        self.page.select_option(f"#{control}", value)
        self.ready()
