"""Bone mapping over all rigs: found, wrong, missing, for each way a rig can stand.

``python -m tools.bench_mapping [--data FOLDER]`` prints the table; bones are compared with `rig_truths`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blender_addon.scene.rigs import guess_map
from tools import rig_truths
from tools.make_rigify import REPOSITORY


@dataclass(frozen=True)
class Row:
    """One rig's figures.

    Attributes:
        name: of the rig.
        kind: biped or quadruped.
        found: parts mapped to the right bone, of so many.
        of: parts that the rig has.
        wrong: ``role: bone (right bone)``.
        missing: roles.
        by_hand: roles that need a hand, with the reason.
        varied: variants that are mapped alike, of `rig_truths.VARIANTS`.
        milliseconds: to map it, as it is.
    """

    name: str
    kind: str
    found: int
    of: int
    wrong: tuple[str, ...]
    missing: tuple[str, ...]
    by_hand: dict[str, str]
    varied: int
    milliseconds: float


def rigs(data: Path) -> Iterator[tuple[str, Callable[[], Any], rig_truths.Truth]]:
    """Name, how to open it, truth."""
    for file, truth in rig_truths.FILES.items():
        if (data / file).is_file():
            yield file, lambda file=file: rig_truths.open_file(data / file), truth  # type: ignore[misc]
    for kind, pair in rig_truths.RIGIFY.items():
        for generated, truth in zip((False, True), pair, strict=True):
            title = f"Rigify {kind.replace('_', ' ')}, {'generated' if generated else 'metarig'}"
            yield title, lambda kind=kind, generated=generated: rig_truths.open_rigify(kind, generated), truth  # type: ignore[misc]


def row_of(name: str, opened: Callable[[], Any], truth: rig_truths.Truth) -> Row:
    """Map one rig in every variant."""
    right = truth.bones
    maps = []
    begin = seconds = 0.0
    for variant in rig_truths.VARIANTS:
        ob = opened()
        rig_truths.vary(ob, variant)
        begin = time.perf_counter()
        maps.append(guess_map(ob))
        seconds = seconds or time.perf_counter() - begin
    first = maps[0].bones
    wrong = tuple(f"{role}: {bone} ({right.get(role, 'none')})" for role, bone in first.items()
                  if right.get(role) != bone)  # fmt: skip
    return Row(
        name, maps[0].kind, sum(first.get(role) == bone for role, bone in right.items()), len(right), wrong,
        tuple(role for role in right if role not in first), dict(truth.by_hand),
        sum(found.bones == right for found in maps), 1000.0 * seconds,
    )  # fmt: skip


def table(rows: list[Row]) -> str:
    """The figures as a Markdown table."""
    lines = ["| rig | kind | right bones | wrong | by hand | variants | ms |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        hand = [*(f"{role} (not found)" for role in row.missing), *sorted(_reasons(row.by_hand))]
        lines.append(
            f"| {row.name} | {row.kind} | {row.found} of {row.of} | {'; '.join(row.wrong) or 'none'} | "
            f"{'; '.join(hand) or 'none'} | {row.varied} of {len(rig_truths.VARIANTS)} | {row.milliseconds:.0f} |"
        )
    return "\n".join(lines)


def _reasons(by_hand: dict[str, str]) -> set[str]:
    parts: dict[str, list[str]] = {}
    for role, why in by_hand.items():
        parts.setdefault(why, []).append(role)
    return {f"{', '.join(roles)}: {why}" for why, roles in parts.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a bone is wrong or missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    options = parser.parse_args(arguments)
    rows = []
    for name, opened, truth in rigs(options.data):
        sys.stdout.flush()
        kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nothing, 1)
            rows.append(row_of(name, opened, truth))
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nothing)
    sys.stdout.write(table(rows) + "\n")
    return int(any(row.wrong or row.missing or row.varied < len(rig_truths.VARIANTS) for row in rows))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Blender 4.5 may hang at exit where Rigify was at work.
    os._exit(code)
