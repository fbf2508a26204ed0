"""What is wanted of a finished motion: limits for two legs, and for four, scaled by the animal's size."""

from __future__ import annotations

from dataclasses import dataclass

from .contacts import REFERENCE_LEG
from .metrics_basics import size
from .skeleton import Skeleton


@dataclass(frozen=True)
class Limits:
    """Upper limits of figures.

    Attributes:
        path_mean, path_smooth, path_cornered: path error of the hips: mean, greatest without and with corners, cm.
        slide: within a contact, mm. skate: contact frames, cm/frame.
        skate_over: all frames, over the capture's, cm/frame.
        lock_offset, pelvis_drop: by planting, cm.
        penetration, floating: of the sole in contact, mm.
        lively: lowest and highest liveliness.
    """

    path_mean: float = 1.5
    path_smooth: float = 4.0
    path_cornered: float = 5.0
    slide: float = 3.0
    skate: float = 0.01
    skate_over: float = 0.0
    lock_offset: float = 12.0
    pelvis_drop: float = 3.0
    penetration: float = 5.0
    floating: float = 10.0
    lively: tuple[float, float] = (0.85, 1.15)

    @classmethod
    def of(cls, skeleton: Skeleton) -> Limits:
        """The limits of a body. Those of four legs are given for withers at 0.6 m and grow with the animal."""
        if not skeleton.four_legged:
            return cls()
        large, leg = size(skeleton), skeleton.leg_length / REFERENCE_LEG
        return cls(
            path_mean=2.5 * large, path_smooth=4.0 * large, path_cornered=5.0 * large, slide=3.0 * large,
            skate=0.02 * large, skate_over=0.05 * large, lock_offset=12.0 * leg, pelvis_drop=3.0 * leg,
            penetration=5.0 * large, floating=10.0 * large, lively=(0.9, 1.1),
        )  # fmt: skip
