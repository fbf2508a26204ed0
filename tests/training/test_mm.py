"""Matching packs made by the command line, without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from blender_addon.motion.dataset import Dataset
from blender_addon.systems.packs import load_system, read_pack
from tests.synthetic import biped, walk
from training.cli import main


@pytest.mark.parametrize("mirror", [True, False])
def test_mirror_images_are_searched_only_where_the_settings_want_them(mirror: bool, tmp_path: Path) -> None:
    clip = walk(3.0)
    Dataset(biped(), [clip]).save(tmp_path / "data")
    (tmp_path / "settings.toml").write_text(f"mirror = {str(mirror).lower()}\n", encoding="utf-8")
    out = tmp_path / "pack"
    arguments = [str(tmp_path / "data"), "--out", str(out), "--settings", str(tmp_path / "settings.toml")]
    assert main(["train", "mm", *arguments]) == 0
    assert read_pack(out).info.training["mirrored"] is mirror
    assert len(load_system(out).database) == len(clip) * (1 + mirror)
