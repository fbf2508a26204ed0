"""Broken BVH files are told apart, with the line where they break."""

from __future__ import annotations

from pathlib import Path

import pytest

from blender_addon.motion.bvh_check import check_bvh
from blender_addon.motion.errors import ClipError

GOOD = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0 -1 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -1 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.033333
0 1 0 0 0 0 0 0 0
0 1 0 0 0 0 5 0 1e-3
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gång тест 1.bvh"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_sound_file_is_described(tmp_path: Path) -> None:
    info = check_bvh(write(tmp_path, GOOD))
    assert (info.joints, info.channels, info.frames, info.fps) == (("Hips", "Leg"), 9, 2, 30.0)


@pytest.mark.parametrize(
    ("time", "fps"),
    [("0.0083333", 120), ("0.0416667", 24), ("0.041708", 23.976), ("0.0333", 30), ("0.041666", 24),
     ("0.0400321", 24.97995)],
)  # fmt: skip
def test_frame_times_mean_whole_rates_where_they_nearly_do(tmp_path: Path, time: str, fps: float) -> None:
    assert check_bvh(write(tmp_path, GOOD.replace("0.033333", time))).fps == pytest.approx(fps, abs=1e-3)


@pytest.mark.parametrize(("old", "new", "message"), [
    (GOOD, "", "is empty"),
    (GOOD, "solid cube\n", "line 1: does not begin with HIERARCHY"),
    (GOOD, GOOD[:200], "ends within the skeleton: it is truncated"),
    ("0 1 0 0 0 0 5 0 1e-3\n", "0 1 0 0\n", r"line 20: 4 values, .* 9 channels \(the file is truncated here"),
    ("Frames: 2", "Frames: 3", "the file says 3 frames but holds 2"),
    ("Frames: 2", "Frames: 0", "has no frames"),
    ("Frames: 2\n", "", "'Frames:' and a number are missing"),
    ("0.033333", "0", "makes no sense"),
    ("5 0 1e-3", "5 nan 1e-3", r"line 20: value 8 \(nan\) of frame 2 is not a number"),
    ("5 0 1e-3", "5 0,1 1e-3", r"value 8 \(0,1\) of frame 2 is not a number"),
    ("    CHANNELS 3 Zrotation Xrotation Yrotation\n", "", "joint Leg has no channels"),
    ("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 2 Zrotation Xrotation", "joint Leg has 2 rotation channels"),
    ("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Zrotation", "not as many as said"),
    ("CHANNELS 6 Xposition Yposition Zposition ", "CHANNELS 3 ", "the root Hips lacks position"),
    ("OFFSET 0 -1 0", "OFFSET 0 inf 0", "the offset is not three numbers"),
    ("}\nMOTION", "MOTION", "braces still open"),
])  # fmt: skip
def test_what_is_broken_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ClipError, match=message):
        check_bvh(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClipError, match="cannot be read"):
        check_bvh(tmp_path / "none.bvh")


def test_the_samples_are_sound(shared_data: Path) -> None:
    samples = sorted((shared_data / "samples").glob("*.bvh"))
    assert samples
    for path in samples:
        assert check_bvh(path).frames > 1, path
