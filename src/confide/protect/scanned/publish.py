"""The end of the work: what is private is kept, then the public folder appears."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import polars as pl

from confide.core.files.folders import one_at_a_time, settle_folder, temporary_folder
from confide.core.scale.hadoop import Remote
from confide.core.scale.hadoop_folders import whole_remote_folder
from confide.frames.scan.parts import stamp_of
from confide.frames.scan.scan import scan
from confide.protect.scanned.keeping import Kept, save
from confide.protect.scanned.places import Places
from confide.protect.scanned.release import ScannedRelease


def publish(
    kept: Kept, places: Places, written: Sequence[tuple[str, int]], types: Mapping[str, pl.DataType],
    moved: Callable[[Path, Path], None], stack: ExitStack,
) -> ScannedRelease:  # fmt: skip
    """Keep what is private, then let the public folder appear. `moved`: puts parts and links into two folders. Others
    who publish with the same private folder wait, and what they have put there by now is in the way."""
    links = stack.enter_context(temporary_folder(places.private))
    draft = bool(kept.origin.refusal)
    stack.enter_context(one_at_a_time(places.private))
    places.check()
    if isinstance(places.out, Remote):
        with whole_remote_folder(places.out, places.overwrite, private=draft) as far:
            moved(cast(Path, far), links)
            save(places.private, kept, places.out, written, types, links, {})
    else:
        made = stack.enter_context(temporary_folder(places.out.parent))
        moved(made, links)
        stamps = {name: stamp_of(made / name) for name, _ in written}
        save(places.private, kept, places.out, written, types, links, stamps)
        settle_folder(made, places.out, places.overwrite, private=draft)
    return kept.release(scan([places.out / name for name, _ in written]), places.private)
