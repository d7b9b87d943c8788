"""Where the draws of a release come from: who could make them again, and whether it may be published."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from confide.core.random.draws import Counter, Draws, Stream
from confide.core.random.seeds import stream
from confide.core.random.vault import BYTES, Vault, derived

Kind = Literal["vault", "fresh", "draft", "shared", "stream"]

WORDS: dict[str, str] = {
    "vault": "drawn from a vault",
    "fresh": "drawn from fresh entropy",
    "draft": "a draft, not for publication",
    "shared": "draws shared between plans, for comparison only, not for publication",
    "stream": "made again from a record of an earlier version",
}
"""What is printed of each kind."""

GUESSABLE = 2**96
"""A stated seed below this can be tried out."""


@dataclass(frozen=True)
class Origin:
    """`kind`: "vault" and "fresh" may be published; a "draft" is keyed by a seed that anybody may guess; "shared" draws
    are those of every plan with that seed; "stream" is what earlier versions did.

    `root`: what all draws are keyed by, private. `seed`: the one stated, if any. `secret`: what a private record must
    hold to draw again without a vault. `vault`: its fingerprint.
    """

    kind: Kind
    root: bytes = field(repr=False)
    seed: int | None = field(default=None, repr=False)
    secret: bytes | None = field(default=None, repr=False)
    vault: str | None = None

    @classmethod
    def of(
        cls, what: tuple[str, ...], seed: int | None, vault: Vault | None = None, secret: bytes | None = None
    ) -> Origin:
        """Draws for one thing that is made, described by texts (the digest of the file, the plan).

        With a vault they are keyed by its secret, without one by fresh entropy (or by a `secret` that was kept), and by
        the seed if one is stated. A seed alone makes a draft.
        """
        message = ("confide draws/1", *what, "" if seed is None else str(seed))
        if vault is not None:
            return cls("vault", vault.key(*message), seed, None, vault.fingerprint)
        if seed is not None and secret is None:
            return cls("draft", derived(b"draft", *message), seed)
        entropy = secrets.token_bytes(BYTES) if secret is None else secret
        return cls("fresh", derived(entropy, *message), seed, entropy)

    @classmethod
    def shared(cls, seed: int) -> Origin:
        """The same draws for every plan and every file."""
        return cls("shared", derived(b"shared", "confide draws/1", str(seed)), seed)

    @classmethod
    def recorded(cls, seed: int) -> Origin:
        """As records of earlier versions have it: one stream after another."""
        return cls("stream", b"", seed)

    def draws(self, key: str, occurrence: int = 0) -> Draws:
        """The draws of one step: the same key and occurrence give the same ones on any machine."""
        if self.kind == "stream":
            assert self.seed is not None
            return Stream(stream(self.seed, key, occurrence))
        return Counter(derived(self.root, key, str(occurrence))[:16])

    @property
    def public(self) -> bool:
        """Whether nobody outside can guess the draws."""
        if self.kind == "stream":
            return self.seed is not None and self.seed >= GUESSABLE
        return self.kind in ("vault", "fresh")

    @property
    def words(self) -> str:
        """In a printout."""
        return WORDS[self.kind]

    @property
    def refusal(self) -> str:
        """Why it may not be published, and what would be right; empty where it may be."""
        if self.public:
            return ""
        if self.kind == "shared":
            how = "shares its draws with every other plan of that seed, so that two releases line up and noise cancels"
        else:
            how = "is a draft: its draws come from a seed that anybody can try out, and the right one undoes it"
        return f"This release {how}. For publication make it with vault=FOLDER, or without a seed."


def opened(vault: Any) -> Vault | None:
    """The vault that a caller named, if any."""
    return vault if vault is None or isinstance(vault, Vault) else Vault(vault)
