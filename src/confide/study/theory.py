"""The theory has a room of its own, `confide.theory`; this name of it still works."""

from confide.theory import *  # noqa: F403
from confide.theory import __all__ as __all__
