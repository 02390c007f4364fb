#!/usr/bin/env python3
"""docs.py SHOWCASE CHROMIUM: a browser uses the page at /docs of the running showcase.

Passes when the page works under its own policy without a complaint, finds operations, sends a request and shows its
answer and its curl line, talks to a WebSocket, is dark where that is wanted, and names each of its controls.
"""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from chromium import Chromium  # noqa: E402
from server_process import ServerProcess  # noqa: E402

PLACE = re.compile(rb"http://127\.0\.0\.1:(\d+)/docs\b")
OPEN = "document.querySelector('.card[open]')"
SHOWN = "[...document.querySelectorAll('.card')].filter((card) => !card.hidden).length"


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def go(browser, operation):
    browser.evaluate(f"document.querySelectorAll('.card').forEach((card) => {{ card.open = false; }}); location.hash = '{operation}'")
    browser.wait_for(f"{OPEN}?.id === '{operation}' && {OPEN}.querySelector('form')")


def submit(browser):
    browser.evaluate(f"{OPEN}.querySelector('form').requestSubmit()")


def check_search(browser):
    everything = browser.wait_for(SHOWN)
    script = "(text) => { const s = document.getElementById('search'); s.value = text; s.dispatchEvent(new Event('input')); }"
    browser.evaluate(f"({script})('book table')")
    expect("what is found", browser.evaluate(SHOWN), 1)
    browser.evaluate(f"({script})('no such thing')")
    expect("that nothing is found is said", browser.evaluate("document.getElementById('none').hidden"), False)
    browser.evaluate(f"({script})('')")
    expect("everything again", browser.evaluate(SHOWN), everything)


def check_request(browser):
    go(browser, "postBookings")
    curl = browser.evaluate(f"{OPEN}.querySelector('.curl code').textContent")
    expect("the curl line", ("-X POST" in curl, "/bookings'" in curl, "Content-Type: application/json" in curl), (True,) * 3)
    submit(browser)
    expect("the status", browser.wait_for(f"{OPEN}.querySelector('.output .status')?.textContent"), "201 Created")
    expect("the answer", "See you" in browser.wait_for(f"{OPEN}.querySelector('.output pre')?.textContent"), True)
    # What does not fit is refused by the server, and shown.
    browser.evaluate(f"{OPEN}.querySelector('.body textarea').value = '{{\"name\":\"\"}}'")
    submit(browser)
    browser.wait_for(f"{OPEN}.querySelector('.output .status')?.textContent.startsWith('422')")
    browser.wait_for(f"{OPEN}.querySelector('.output pre')?.textContent.includes('/mail')")


def check_parameters(browser):
    go(browser, "getUsersById")
    browser.evaluate(f"{OPEN}.querySelector('form input').value = '42'")
    submit(browser)
    browser.wait_for(f"{OPEN}.querySelector('.output pre')?.textContent.includes('user number 42')")


def check_socket(browser):
    go(browser, "getChatByRoom")
    submit(browser)
    browser.wait_for(f"{OPEN}.querySelector('.log')?.textContent.includes('c1')")
    browser.evaluate(
        f"{{ const text = {OPEN}.querySelector('.output input'); text.value = 'mgood evening'; text.nextSibling.click(); }}"
    )
    browser.wait_for(f"{OPEN}.querySelectorAll('.log .in').length === 2 && {OPEN}.querySelector('.log').lastChild.textContent === 'mgood evening'")


def check_colours(browser):
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    light = browser.evaluate(ground)
    browser.call("Emulation.setEmulatedMedia", features=[dark])
    expect("dark where the system is", browser.evaluate(ground) == light, False)
    browser.evaluate("document.getElementById('theme').click()")
    expect("light where it was asked for", browser.evaluate(ground), light)


def check_names(browser):
    nameless = "[...document.querySelectorAll('input, select, textarea')].filter((one) => !one.labels?.length && !one.ariaLabel).length"
    expect("controls without a name", browser.evaluate(nameless), 0)
    expect("a heading", browser.evaluate("document.querySelector('h1').textContent"), "violet showcase")


def main():
    showcase, program = sys.argv[1:]
    command = [showcase, "--listen", "http://127.0.0.1:0", "--loops", "1"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ServerProcess(command, PLACE) as server:
        with Chromium(program, folder) as browser:
            browser.open(f"http://127.0.0.1:{int(server.found[1])}/docs")
            for check in (check_search, check_request, check_parameters, check_socket, check_colours, check_names):
                check(browser)
            expect("complaints", browser.complaints, [])
        expect("the exit status", server.stop(), 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
