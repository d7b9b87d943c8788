"""The vault: a private folder with the secret that every public draw is keyed by."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from confide.core.errors import InputError
from confide.core.files.private import private_folder

SECRET = "secret"
"""The name of the file that holds the secret."""

FORMAT = "confide-vault/1"
BYTES = 32


@dataclass(frozen=True)
class Vault:
    """A private folder with a secret of 256 bits, made when the folder is first used.

    Whoever holds the secret, the original file and the plan can make a release again; without it nobody can, and nobody
    can tell which draws were made. Keep the folder where the original is kept, and keep a copy of it: a release whose
    secret is lost cannot be made again. The folder may hold the private records of releases too.

    >>> import tempfile
    >>> import confide as cf
    >>> folder = tempfile.TemporaryDirectory()
    >>> vault = cf.Vault(f"{folder.name}/vault")
    >>> vault == cf.Vault(f"{folder.name}/vault")
    True
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads"), vault=vault)
    >>> release
    Release: 51,016 rows, 15 variables; 1 step; drawn from a vault
    >>> folder.cleanup()
    """

    folder: Path
    secret: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.folder, (str, os.PathLike)) or not str(self.folder):
            raise InputError(f"A vault is a folder, named by text or a path, not {type(self.folder).__name__}.")
        path = private_folder(self.folder)
        object.__setattr__(self, "folder", path)
        file = path / SECRET
        if not file.exists():
            if any(path.glob("*.json")):
                raise InputError(
                    f"The vault {path} holds records but no secret: restore it from a copy, or use a new one."
                )
            _make(file)
        object.__setattr__(self, "secret", _read(file))

    @property
    def fingerprint(self) -> str:
        """What a record may say of the vault: it tells two apart and gives nothing away."""
        return self.key("fingerprint").hex()[:16]

    def key(self, *parts: str) -> bytes:
        """32 bytes that belong to this secret and these texts alone."""
        return derived(self.secret, *parts)


def derived(secret: bytes, *parts: str) -> bytes:
    """HMAC-SHA-256 of texts, each with its length, so that no two lists of texts are the same message."""
    message = b"".join(
        len(data).to_bytes(8, "big") + data for data in (p.encode("utf-8", "surrogatepass") for p in parts)
    )
    return hmac.new(secret, message, hashlib.sha256).digest()


def usual_vault() -> Path:
    """The vault of a user who names none: in the folder for data of their own programs."""
    try:
        stated = Path(os.environ.get("XDG_DATA_HOME", ""))
        base = stated if stated.is_absolute() else Path.home() / ".local" / "share"
    except RuntimeError:
        raise InputError("There is no home folder to keep a vault in. Name a private folder: --private DIR.") from None
    return base / "confide" / "vault"


def existing(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a secret."""
    return (Path(folder).expanduser() / SECRET).exists()


def _open_to_others(path: Path) -> bool:
    return hasattr(os, "getuid") and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _check_owner(path: Path) -> None:
    if hasattr(os, "getuid") and path.stat().st_uid != os.geteuid():
        raise InputError(f"The secret {path} belongs to another user; give a vault of your own.")


def _make(file: Path) -> None:
    """A new secret, whole or not at all; of two processes that make one at once, the first wins."""
    body = secrets.token_bytes(BYTES).hex()
    text = f"{FORMAT}\n{body}\n{_check(body)}\n"
    draft = file.with_name(f".{SECRET}-{secrets.token_hex(8)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.fchmod(handle, 0o600) if hasattr(os, "fchmod") else None
            os.write(handle, text.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        with contextlib.suppress(FileExistsError):
            _settle(draft, file)
    except OSError as cause:
        raise InputError(f"No secret can be written into the vault {file.parent}: {cause.strerror}.") from cause
    finally:
        draft.unlink(missing_ok=True)


def _settle(draft: Path, file: Path) -> None:
    """Give the draft its name, unless there is such a file already."""
    try:
        os.link(draft, file)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if not file.exists():
            draft.replace(file)


def _read(file: Path) -> bytes:
    try:
        _check_owner(file)
        if _open_to_others(file):
            raise InputError(f"Others may read {file}, so it is no secret. Close it (chmod 600), or use a new vault.")
        lines = file.read_text(encoding="ascii").split("\n")
    except OSError as cause:
        raise InputError(f"{file} cannot be read: {cause.strerror}.") from cause
    except UnicodeDecodeError:
        lines = []
    damaged = InputError(f"{file} is damaged: it does not hold a secret as confide writes it. Restore it from a copy.")
    if len(lines) != 4 or lines[0] != FORMAT or lines[2] != _check(lines[1]):
        raise damaged
    try:
        secret = bytes.fromhex(lines[1])
    except ValueError:
        raise damaged from None
    if len(secret) != BYTES:
        raise damaged
    return secret


def _check(body: str) -> str:
    return hashlib.sha256(f"{FORMAT} {body}".encode()).hexdigest()[:16]
