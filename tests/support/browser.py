"""Makes sure that the browser tests find a Chromium, installing one where that is possible.

First Playwright itself has to start: the Node that it brings needs a library that a small Debian lacks.
Then, in this order: a Chromium or Chrome on PATH; Playwright's own, already there or downloaded now;
Debian's, where apt-get may install it (as root). A browser counts when it really starts. On Debian
it also installs a font for the Chinese screens, which the tests can do without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from playwright.sync_api import Error, sync_playwright

#: Names under which systems install Chromium or Chrome; the browser tests look for the same ones.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def on_path() -> str | None:
    """The first Chromium or Chrome on PATH, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def why_it_does_not_start(executable: str | None) -> str | None:
    """None where the browser starts (None means Playwright's), else the reason, in one line."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=executable).close()
    except Error as error:
        return error.message.strip().partition("\n")[0]
    return None


def why_playwright_does_not_start() -> str | None:
    """None where it starts, else its last words."""
    done = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it said nothing"])[-1]


def may_install_packages() -> bool:
    """Return whether this is Debian or a relative of it, and we are root."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def apt_install(*packages: str) -> bool:
    """Install Debian packages; whether it worked."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages],
    ):
        if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode:
            return False
    return True


def candidates() -> Iterator[str | None]:
    """Browsers worth trying (None: Playwright's own); asking for the next one may install it."""
    if executable := on_path():
        yield executable
    yield None
    print("    downloading Playwright's Chromium", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], capture_output=True)
    yield None
    if may_install_packages():
        print("    installing Debian's chromium", flush=True)
        apt_install("chromium")
        yield on_path()


def install_chinese_font() -> None:
    """Install a font with Chinese characters where none is there and apt-get may; else say so."""
    fonts = shutil.which("fc-list")
    if fonts is None or subprocess.run([fonts, ":lang=zh"], capture_output=True).stdout:
        return
    if not (may_install_packages() and apt_install("fonts-noto-cjk")):
        print("    No font for Chinese was found or installed: Chinese screens will show boxes.")


def main() -> int:
    """Exit status 0 with a browser that starts; 1 with one sentence saying why there is none."""
    reason = why_playwright_does_not_start()
    if reason and "libatomic" in reason and may_install_packages():
        print("    installing Debian's libatomic1, which Playwright's Node needs", flush=True)
        apt_install("libatomic1")
        reason = why_playwright_does_not_start()
    if reason:
        print(
            f"The browser tests need Playwright, and it does not start ({reason}): install the library that "
            "is missing (on Debian `apt install libatomic1`) and run make again.",
            file=sys.stderr,
        )
        return 1
    for executable in candidates():
        reason = why_it_does_not_start(executable)
        if reason is None:
            print(f"    Chromium: {executable or 'the one that Playwright downloaded'}")
            install_chinese_font()
            return 0
    print(
        f"The browser tests need a Chromium and none starts ({reason}): install chromium or Google "
        "Chrome and run make again.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
