"""The version of confide, as it was installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("confide")
except PackageNotFoundError:  # run from a source tree that was not installed
    __version__ = "0+source"
