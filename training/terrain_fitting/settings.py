"""Settings of terrain fitting."""

from __future__ import annotations

from dataclasses import dataclass

from blender_addon.motion.errors import DatasetError


@dataclass(frozen=True)
class FitSettings:
    """How ground is fitted.

    Attributes:
        fits: grounds for each cycle (paper: 10); each makes one more training copy of it.
        steps: footsteps in a cycle.
        placements: places and turns tried on each map, for each cycle.
        size: length of a map's side, metres. cell: its grid, metres.
        seed: of the generated ground and of what is tried.
        generated: search generated ground. grounds: files of meshes and heightfields to search as well.
        mesh_scale: metres in a unit of those meshes. picture_cell: metres between heights of pictures and tables.
        picture_height: metres from black to white.
        good: ground as near to the feet as this before it is bent (root of the mean square, metres) fits as well as
            any; then the more uneven is preferred.
        worst: ground further from the feet than this, and a quarter further than the best, is not used.
        blend: seconds in which one cycle's ground goes over into the next one's.
    """

    fits: int = 10
    steps: int = 2
    placements: int = 40
    size: float = 16.0
    cell: float = 0.05
    seed: int = 1
    generated: bool = True
    grounds: tuple[str, ...] = ()
    mesh_scale: float = 1.0
    picture_cell: float = 0.05
    picture_height: float = 1.0
    good: float = 0.02
    worst: float = 0.06
    blend: float = 0.2

    def __post_init__(self) -> None:
        for name in ("fits", "steps", "placements", "size", "cell", "good", "worst", "mesh_scale", "picture_cell",
                     "picture_height"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise DatasetError(f"Setting {name!r} must be greater than 0, not {getattr(self, name)}")
        if self.blend < 0:
            raise DatasetError("Setting 'blend' must not be negative")
        if not self.generated and not self.grounds:
            raise DatasetError("There is no ground to fit", "Turn on generated ground, or name a mesh or heightfield")
        if self.size < 4.0 * self.cell:
            raise DatasetError("The maps of the ground are smaller than their cells", "Raise 'size' or lower 'cell'")
