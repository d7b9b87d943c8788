"""Names that a module passes on when they are first used: its stub (`.pyi`) lists them, once, for type checkers too."""

import re
from importlib.machinery import ModuleSpec


def homes(spec: ModuleSpec) -> dict[str, str]:
    """The module of each name in the stub beside a module, from lines `from home import name as name`.

    >>> import confide
    >>> homes(confide.__spec__)["Plan"]
    'confide.protect.plan'
    """
    stub = f"{str(spec.origin).rpartition('.')[0]}.pyi"
    text = spec.loader.get_data(stub).decode()  # type: ignore[union-attr]
    return {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", text, re.MULTILINE)}
