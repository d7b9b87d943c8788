"""Files in the storage of a cluster, named as Spark names them: hdfs://..., s3a://..., file:/... and so on.

They are reached through Hadoop's file systems in the session of Spark that runs here. The driver reads what files say
of themselves, and single rows; all else is read and written by Spark.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import quote

from confide.core.errors import InputError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def place_of(name: str) -> Path:
    """A folder by its name, as this machine or as Spark names it."""
    return cast(Path, Remote(name.rstrip("/"))) if is_uri(name) else Path(name)


def is_uri(place: object) -> bool:
    """Whether a place is named as Spark names it.

    >>> is_uri("hdfs://host/persons"), is_uri("file:/persons"), is_uri("persons/*.parquet"), is_uri("C:/persons")
    (True, True, False, False)
    """
    return isinstance(place, Remote) or (isinstance(place, str) and _SCHEME.match(place) is not None)


@dataclass(frozen=True)
class Stamp:
    """Size and time of a file, under the names that the system gives them."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True, order=True)
class Remote:
    """A file or a folder in the storage of a cluster, with what is asked of a path.

    >>> place = Remote("s3a://bucket/persons/part-00000.parquet")
    >>> place.name, place.stem, place.suffix, str(place.parent)
    ('part-00000.parquet', 'part-00000', '.parquet', 's3a://bucket/persons')
    """

    uri: str

    def __str__(self) -> str:
        return self.uri

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.uri.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.uri).name

    @property
    def stem(self) -> str:
        """The same without its ending."""
        return PurePosixPath(self.uri).stem

    @property
    def suffix(self) -> str:
        """Its ending."""
        return PurePosixPath(self.uri).suffix

    @property
    def parent(self) -> Remote:
        """The folder that it is in."""
        return Remote(self.uri.rstrip("/").rpartition("/")[0])

    def resolve(self) -> Remote:
        """Itself: it has one name."""
        return self

    def exists(self) -> bool:
        """Whether it is there."""
        fs, path = reached(self.uri)
        return bool(fs.exists(path))

    def is_file(self) -> bool:
        """Whether it is there, and is no folder."""
        return self.exists() and not self.is_dir()

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        fs, path = reached(self.uri)
        return bool(fs.exists(path) and fs.getFileStatus(path).isDirectory())

    def stat(self) -> Stamp:
        """Its size and time."""
        fs, path = reached(self.uri)
        found = fs.getFileStatus(path)
        return Stamp(int(found.getLen()), int(found.getModificationTime()) * 1_000_000)

    def open(self) -> io.BufferedReader:
        """Its bytes, as far as they are asked for."""
        return io.BufferedReader(_Bytes(self.uri, self.stat().st_size), 2**16)

    @property
    def spellings(self) -> set[str]:
        """How Spark may write where a row came from."""
        scheme, _, rest = self.uri.partition(":")
        heads = {f"{scheme}:{rest}"}
        if rest.startswith("/") and not rest.startswith("//"):
            heads.add(f"{scheme}://{rest}")
        return {spelt for uri in heads for spelt in (uri, quote(uri, safe="/:@%"), quote(uri, safe="/:@"))}


def session_here() -> Any:
    """The session of Spark that runs here."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError('Files in a cluster are reached through Spark: pip install "confide[spark]".') from None
    found = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if found is None or found.sparkContext._jsc is None:
        raise InputError(
            "Files in a cluster are reached through a session of Spark, and none runs here: make one first, as "
            "SparkSession.builder.getOrCreate() does."
        )
    return found


def files_of(uri: str) -> list[Remote]:
    """The Parquet files that a name, a folder or a pattern means, in the order of their names."""
    fs, path = reached(uri)
    with said(f"{uri} cannot be scanned"):
        there = list(fs.globStatus(path) or ())
        if len(there) == 1 and there[0].isDirectory():
            there = list(fs.listStatus(there[0].getPath()))
    found = sorted(Remote(s.getPath().toString()) for s in there if not s.isDirectory())
    found = [p for p in found if p.suffix.lower() == ".parquet" and not p.name.startswith((".", "_"))]
    if not found:
        raise InputError(f"{uri} cannot be scanned: no file that ends in .parquet is there.")
    return found


class _Bytes(io.RawIOBase):
    """The bytes of a file, read where they are asked for."""

    def __init__(self, uri: str, size: int) -> None:
        fs, path = reached(uri)
        self.size, self.at = size, 0
        with said(f"{uri} cannot be read"):
            self.stream = fs.open(path)
        self.jvm = session_here()._jvm

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def readinto(self, buffer: Any) -> int:
        many = min(len(buffer), max(self.size - self.at, 0))
        if many:
            self.stream.seek(self.at)
            buffer[:many] = self.jvm.org.apache.commons.io.IOUtils.toByteArray(self.stream, many)
            self.at += many
        return many

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
        super().close()


def reached(uri: str) -> tuple[Any, Any]:
    """Hadoop's file system of a place, and its path there."""
    session = session_here()
    with said(f"{uri} cannot be reached"):
        path = session._jvm.org.apache.hadoop.fs.Path(uri)
        return path.getFileSystem(session._jsc.hadoopConfiguration()), path


@contextlib.contextmanager
def said(what: str) -> Iterator[None]:
    """What Java says at length, as one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as cause:
        if type(cause).__module__.startswith("py4j"):
            java = cast(Any, getattr(cause, "java_exception", None))
            kind = "" if java is None else f" ({java.getClass().getSimpleName()})"
            raise InputError(f"{what}{kind}: is the name right, and may you look there?") from cause
        raise
