"""Any text as something that can be drawn, printed and told apart: what has no form of its own is spelt out."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, among them those that command a terminal
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # without a form
    "\u2028-\u202e"  # new lines of another kind; those that turn the order of what follows
    "\ud800-\udfff"  # halves of characters, which no file can hold
    "\ufdd0-\ufdef" + "".join(chr(p + e) for p in range(0, 0x110000, 0x10000) for e in (0xFFFE, 0xFFFF)) + "]"
)
"""Characters that pictures cannot show, that a terminal obeys, or that nobody sees."""


def visible(text: str, keep: str = "") -> str:
    """The text with hidden characters spelt out, as R prints them; texts that differ in them only stay different.

    `keep`: hidden characters that may stay, such as a new line in a text of several. Done twice it is as done once.

    >>> visible("Müller 漢字 👩‍👧"), visible("a\\x01b"), visible("a\\x02b")
    ('Müller 漢字 👩‍👧', 'a<U+0001>b', 'a<U+0002>b')
    >>> visible("\\x1b[31mred\\n", keep="\\n")
    '<U+001B>[31mred\\n'
    """
    return HIDDEN.sub(lambda m: m[0] if m[0] in keep else f"<U+{ord(m[0]):04X}>", text)
