"""Ground fitted under captured motion, so that a network learns terrain from takes that recorded none."""

from .fits import ClipFit, CycleFit, TerrainFits, fit_clip, fit_dataset
from .settings import FitSettings

__all__ = ["ClipFit", "CycleFit", "FitSettings", "TerrainFits", "fit_clip", "fit_dataset"]
