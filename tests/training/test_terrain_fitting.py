"""Ground fitted under motion: it is where feet stand, under those that swing, near those that jump."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError, TerrainError
from blender_addon.motion.gait_labels import BIPED_GAITS
from blender_addon.motion.phases import global_phase
from blender_addon.motion.terrain import HeightField
from tests.synthetic import walk
from training.terrain_fitting import FitSettings, fit_clip, fit_dataset
from training.terrain_fitting.bank import Bank
from training.terrain_fitting.fits import blend_shares, cache_path
from training.terrain_fitting.generated import MAPS, generated_bank
from training.terrain_fitting.grounds import cut_tiles, read_ground
from training.terrain_fitting.meshes import read_mesh, top_surface
from training.terrain_fitting.search import JUMP_M, Search, bend, whole_errors
from training.terrain_fitting.windows import Footing, Window, cycles, merged

SMALL = FitSettings(fits=3, placements=12, size=10.0, cell=0.1)


def labelled(clip: Clip, gait: str = "walk") -> ClipLabels:
    gaits = np.full(len(clip), BIPED_GAITS.index(gait))
    return ClipLabels(np.repeat(clip.contacts, 2, axis=1), global_phase(clip.contacts, clip.fps), gaits)


def window(points: np.ndarray, down: np.ndarray, over: bool = False) -> Window:
    """A window of some points, the standing ones its stands."""
    return Window(0, 10, points[:, :2].mean(axis=0), points[down], np.ones(down.sum()), points[:, :2], points, down,
                  np.full(len(points), over))  # fmt: skip


def uphill(clip: Clip, gradient: float) -> Clip:
    return replace(clip, hips=clip.hips - gradient * clip.root[:, 1:2] * np.array([0.0, 0.0, 1.0]))


def test_a_bank_is_sampled_as_a_height_field_is():
    random = np.random.default_rng(3)
    heights = random.uniform(0.0, 1.0, (3, 20, 20)).astype(np.float32)
    bank = Bank(heights, 0.25, ("a", "b", "c"))
    at = random.uniform(-1.0, 6.0, (3, 50, 2)).astype(np.float32)
    found = bank.sample(np.arange(3), at[..., 0], at[..., 1])
    for number in range(3):
        field = HeightField(np.zeros(2), 0.25, heights[number])
        assert found[number] == pytest.approx(field.height(at[number]), abs=5e-3)


def test_generated_ground_is_of_every_kind_and_the_same_for_a_seed():
    one, two, other = (generated_bank(seed, 8.0, 0.1) for seed in (1, 1, 2))
    assert set(one.kinds) == set(MAPS) and len(one) == sum(MAPS.values())
    assert np.array_equal(one.heights, two.heights) and not np.array_equal(one.heights, other.heights)
    assert not one.heights[one.kinds.index("level")].any()
    assert np.ptp(one.heights, axis=(1, 2))[1:].min() > 0.02


def test_the_three_errors_are_those_of_the_paper():
    points = np.array([[0, 0, 0.0], [1, 0, 0.1], [2, 0, 0.05], [3, 0, 0.9]], dtype=float)
    down = np.array([True, True, False, False])
    ground = np.array([[0.0, 0.06, 0.15, 0.0]], dtype=np.float32)
    # The stands' mean is 2 cm over the ground: it is lifted so far.
    stands = 0.02**2 + 0.02**2
    under = (0.15 + 0.02 - 0.05) ** 2
    error, lift = whole_errors(ground, window(points, down))
    assert lift == pytest.approx([0.02]) and error == pytest.approx([(stands + under) / 4])
    error, _ = whole_errors(ground, window(points, down, over=True))
    assert error == pytest.approx([(stands + under + (0.9 - 0.02 - JUMP_M) ** 2) / 4])


@given(st.integers(1, 12), st.integers(0, 10_000))
def test_bending_moves_the_ground_onto_every_stand(count, seed):
    random = np.random.default_rng(seed)
    spots, _ = merged(random.uniform(-3.0, 3.0, (count, 3)), np.ones(count))
    left = random.normal(0.0, 0.1, (len(spots), 2))
    strength = bend(spots[:, :2], left)
    away = np.linalg.norm(spots[:, None, :2] - spots[None, :, :2], axis=-1)
    assert away @ strength[:-1] + strength[-1] == pytest.approx(left, abs=1e-6)
    assert strength[:-1].sum(axis=0) == pytest.approx(np.zeros(2), abs=1e-7)


def test_a_cycle_has_two_steps_and_a_stand_is_cut():
    clip = walk(6.0, speed=1.0)
    found = cycles(labelled(clip).contacts, clip.fps)
    assert found[0][0] == 0 and found[-1][1] == len(clip)
    assert all(a[1] == b[0] for a, b in zip(found[:-1], found[1:], strict=True))
    assert np.diff([first for first, _ in found[1:-1]]) == pytest.approx(78, abs=1)  # a stride of 1.3 m at 1 m/s
    still = cycles(np.ones((600, 4), dtype=bool), 60.0)
    assert len(still) == 5 and {last - first for first, last in still} == {120}


def test_ground_touches_every_stand_and_a_slope_finds_slopes():
    bank = generated_bank(1, 10.0, 0.1)
    clip = uphill(walk(4.0, speed=1.0), 0.15)
    footing = Footing(clip, labelled(clip))
    fitted = Search(bank, 40, 4, 0.02).fit(footing.window(60, 138), np.random.default_rng(0))
    spots = footing.window(60, 138).spots
    assert fitted.heights(spots[:, :2]) == pytest.approx(np.tile(spots[:, 2], (4, 1)), abs=1e-5)
    assert np.sqrt(fitted.errors[0]) < 0.03 and np.all(fitted.errors[0] <= fitted.errors + 4e-4)
    assert len(set(fitted.placed.maps)) == 4
    ahead = fitted.heights(clip.root[[60, 138], :2])
    assert np.diff(ahead, axis=1)[0, 0] == pytest.approx(0.15 * 1.3, abs=0.06)


def test_level_motion_gets_level_ground_first_and_other_ground_too():
    clip = walk(4.0, speed=1.0)
    fit = fit_clip(clip, labelled(clip), SMALL)
    assert fit.heights.shape == (3, len(clip), 37) and np.all(np.isfinite(fit.heights))
    rough = fit.heights[:, 60:180].std(axis=(1, 2))
    assert rough[0] < 0.03 and rough[1:].max() > rough[0]
    assert all(len(cycle.kinds) == 3 and cycle.errors[0] < 0.05 for cycle in fit.cycles)


def test_one_ground_goes_over_into_the_next():
    frames = np.arange(0, 200)
    shares = np.array([blend_shares(frames, a, b, 6, 200) * ((frames >= a - 6) & (frames < b + 6))
                       for a, b in ((0, 90), (90, 200))])  # fmt: skip
    assert shares.sum(axis=0) == pytest.approx(np.ones(200))
    assert shares[0, 89] == pytest.approx(0.5, abs=0.05) and shares[0, :84].min() == 1.0


def test_fits_are_remembered_until_anything_changes(tmp_path):
    clip = walk(3.0, speed=1.0)
    dataset = Dataset(clip.skeleton, [clip, clip.mirrored()])
    labels = [labelled(one) for one in dataset.clips]
    path, told = cache_path(tmp_path / "set"), []
    first = fit_dataset(dataset, labels, SMALL, told.append, path)
    assert path.name == "set.terrain.npz" and told[-1] == pytest.approx(1.0)
    again = fit_dataset(dataset, labels, SMALL, told.append, path)
    assert len(told) == 2
    for one, two in zip(first.clips, again.clips, strict=True):
        assert two.heights == pytest.approx(one.heights, abs=1e-3) and two.cycles == one.cycles
    felt = again.felt(1)
    assert len(felt) == 3 and felt[0].heights.shape == (len(clip), 3, 12)
    fit_dataset(dataset, labels, replace(SMALL, seed=2), told.append, path)
    path.write_bytes(b"nothing")
    fit_dataset(dataset, labels, SMALL, told.append, path)
    assert len(told) == 6
    with pytest.raises(DatasetError):
        fit_dataset(dataset, labels[:1], SMALL)


STEPS = "v 0 0 0\nv 4 0 0\nv 4 0 4\nv 0 0 4\nv 0 1 0\nv 2 1 0\nv 2 1 4\nv 0 1 4\nf 1 2 3 4\nf 5/1/1 6/1/1 -2 -1\n"


def test_a_mesh_is_ground_where_its_top_is(tmp_path):
    path = tmp_path / "steps.obj"
    path.write_text(STEPS)
    heights = top_surface(*read_mesh(path), 0.1)
    assert heights.shape == (41, 41)
    assert heights[:20] == pytest.approx(np.ones((20, 41))) and heights[22:] == pytest.approx(np.zeros((19, 41)))
    with pytest.raises(TerrainError, match="too large"):
        top_surface(*read_mesh(path), 0.0001)


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_files_of_every_order_are_read(tmp_path, order):
    vertices, faces = [(0, 0, 0.5), (3, 0, 0.5), (3, 3, 0.5), (0, 3, 0.5)], [(0, 1, 2, 3)]
    head = f"ply\nformat {order} 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
    head += "property float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    if order == "ascii":
        body = "\n".join(" ".join(map(str, (*v, 7))) for v in vertices).encode() + b"\n4 0 1 2 3\n"
    else:
        sign = "<" if "little" in order else ">"
        body = b"".join(struct.pack(f"{sign}fffB", *v, 7) for v in vertices) + struct.pack(f"{sign}B4i", 4, *faces[0])
    path = tmp_path / "floor.ply"
    path.write_bytes(head.encode() + body)
    found, triangles = read_mesh(path)
    assert found == pytest.approx(np.array(vertices)) and triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    path.write_bytes((head.encode() + body)[:-6])
    with pytest.raises(TerrainError, match=r"floor\.ply"):
        read_mesh(path)


def test_pictures_and_tables_are_ground(tmp_path):
    from PIL import Image

    settings = FitSettings(cell=0.1, picture_cell=0.2, picture_height=2.0)
    ramp = np.tile(np.linspace(0, 65535, 11).astype(np.uint16), (6, 1))
    Image.fromarray(ramp).save(tmp_path / "ramp.png")
    heights = read_ground(tmp_path / "ramp.png", settings)
    assert heights.shape == (21, 11) and heights[:, 3] == pytest.approx(np.linspace(0.0, 2.0, 21), abs=1e-3)
    np.save(tmp_path / "table.npy", np.arange(12.0).reshape(3, 4))
    assert read_ground(tmp_path / "table.npy", settings)[4, 6] == pytest.approx(11.0)
    bad = {"bad.png": b"x", "bad.npy": b"x", "bad.txt": b"x", "bad.obj": b"v 1", "no.ply": None}
    for name, content in bad.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(TerrainError):
            read_ground(tmp_path / name, settings)


def test_given_ground_is_searched_with_the_generated_one_or_alone(tmp_path):
    np.save(tmp_path / "mine.npy", np.zeros((30, 30)))
    clip = walk(3.0, speed=1.0)
    settings = replace(SMALL, generated=False, grounds=(str(tmp_path / "mine.npy"),))
    fit = fit_clip(clip, labelled(clip), settings)
    assert {kind for cycle in fit.cycles for kind in cycle.kinds} == {"mine"}
    with pytest.raises(DatasetError, match="no ground"):
        FitSettings(generated=False)


def test_small_ground_is_continued_and_large_ground_cut():
    small = np.arange(6.0).reshape(2, 3)
    assert cut_tiles(small, 5).shape == (1, 5, 5) and cut_tiles(small, 5)[0, :4, 0].tolist() == [0, 3, 3, 0]
    assert cut_tiles(np.zeros((20, 9)), 5).shape == (8, 5, 5)


def test_the_picture_of_a_fit_is_drawn(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from training.terrain_fitting.pictures import draw_fits

    clip = walk(3.0, speed=1.0)
    draw_fits(clip, labelled(clip), (60, 138), generated_bank(1, 10.0, 0.1), SMALL, tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000
