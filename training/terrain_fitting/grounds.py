"""The ground that is searched: generated, and whatever meshes and heightfields the user gives."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from blender_addon.motion.errors import TerrainError
from blender_addon.motion.rotations import Array
from blender_addon.motion.terrain import HeightField

from .bank import Bank
from .generated import generated_bank
from .meshes import MESHES, read_mesh, top_surface
from .settings import FitSettings

#: Files that are pictures of heights.
PICTURES: tuple[str, ...] = (".png", ".pgm", ".tif", ".tiff")
#: At most so many maps are cut from one file.
_TILES = 64


@lru_cache(maxsize=2)
def bank_of(settings: FitSettings) -> Bank:
    """The maps that the settings ask for.

    Raises:
        TerrainError: a file cannot be read, or is no ground.
    """
    banks = [generated_bank(settings.seed, settings.size, settings.cell)] if settings.generated else []
    side = round(settings.size / settings.cell) + 1
    for name in settings.grounds:
        path = Path(name)
        tiles = cut_tiles(read_ground(path, settings), side)
        banks.append(Bank(tiles.astype(np.float32), settings.cell, (path.stem,) * len(tiles)))
    heights = np.concatenate([bank.heights for bank in banks])
    return Bank(heights, settings.cell, tuple(kind for bank in banks for kind in bank.kinds))


def read_ground(path: Path, settings: FitSettings) -> Array:
    """Heights (nx, ny) of a file on the settings' grid, metres: a mesh (.obj, .ply), a picture, or numbers (.npy).

    Raises:
        TerrainError: it cannot be read, or is no ground.
    """
    kind = path.suffix.lower()
    if kind in MESHES:
        vertices, faces = read_mesh(path)
        return top_surface(vertices * settings.mesh_scale, faces, settings.cell)
    if kind == ".npy":
        try:
            heights = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise TerrainError(f"The heights {path} cannot be read ({error})", "Save them with numpy.save") from error
        heights = np.asarray(heights, dtype=np.float64) if np.issubdtype(heights.dtype, np.number) else heights
    elif kind in PICTURES:
        heights = settings.picture_height * read_picture(path)
    else:
        known = ", ".join((*MESHES, *PICTURES, ".npy"))
        raise TerrainError(f"{path} is of a kind that is not known as ground", f"Use one of: {known}")
    if heights.ndim != 2 or heights.dtype != np.float64:
        raise TerrainError(f"{path} holds no plain table of heights", "Save one height for each place")
    # Checks sizes and numbers, and fills holes.
    field = HeightField(np.zeros(2), settings.picture_cell, heights)
    x, y = (np.arange(int((count - 1) * field.cell / settings.cell) + 1) * settings.cell for count in heights.shape)
    return field.height(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1))


def read_picture(path: Path) -> Array:
    """Brightness (columns, rows) of a picture, 0 black to 1 white; 8 or 16 bits, colours by their mean."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            values = np.asarray(image)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise TerrainError(f"The picture {path} cannot be read ({error})", "Save it as a PNG") from error
    if values.ndim == 3:
        values = values[..., :3].mean(axis=2) / 255.0 * (255.0 if values.dtype == bool else 1.0)
        return np.asarray(values[::-1].T, dtype=np.float64)
    if values.dtype == np.uint8:
        white = 255.0
    elif values.dtype == bool or values.dtype.kind == "f":
        white = 1.0
    else:
        white = 65535.0
    return np.asarray(values[::-1].T, dtype=np.float64) / white


def cut_tiles(heights: Array, side: int) -> Array:
    """Square maps (tiles, side, side) that cover heights (nx, ny); what is smaller is continued by its mirror image."""
    missing = [max(side - count, 0) for count in heights.shape]
    heights = np.pad(heights, [(0, count) for count in missing], mode="symmetric")
    starts = [np.linspace(0, count - side, int(np.ceil(count / side))).round().astype(int) for count in heights.shape]
    corners = [(i, j) for i in starts[0] for j in starts[1]]
    if len(corners) > _TILES:
        corners = [corners[k] for k in np.linspace(0, len(corners) - 1, _TILES).round().astype(int)]
    return np.stack([heights[i : i + side, j : j + side] for i, j in corners])
