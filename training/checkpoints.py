"""Checkpoints that are whole or absent: written beside the old one, then put in its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from blender_addon.motion.errors import DatasetError


def save(path: Path, state: dict[str, Any]) -> None:
    """Write ``state`` atomically; whoever is killed while at it leaves the old one.

    Raises:
        DatasetError: disk full or no right to write; the old checkpoint stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except (OSError, RuntimeError) as error:
        temporary.unlink(missing_ok=True)
        raise DatasetError(
            f"The checkpoint {path} cannot be written ({error})",
            "Free some disk space or choose another folder, then resume",
        ) from error


def load(path: Path) -> dict[str, Any] | None:
    """The state saved at ``path``; None when there is none.

    Raises:
        DatasetError: the file is damaged.
    """
    if not path.exists():
        return None
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:
        raise DatasetError(
            f"The checkpoint {path} cannot be read", "Delete it and train again without --resume"
        ) from error
    return dict(state)
