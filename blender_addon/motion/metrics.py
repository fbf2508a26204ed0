"""How good motion is, in figures: the definitions of quality, gathered from the modules that hold them.

Every measure is a pure function of the clip, its contacts, the plan and the terrain; none knows how the
motion was made. Lengths are metres and angles radians unless the function says otherwise.
"""

from __future__ import annotations

from .metrics_basics import (
    ANIMAL_HEIGHT,
    MEASURE_FPS,
    Ground,
    at_measuring_rate,
    difference,
    hips_speed,
    intervals,
    low_pass,
    pelvis,
    size,
    windowed,
)
from .metrics_contacts import ContactScore, contact_score, phase_error
from .metrics_feet import (
    PerContact,
    ball_positions,
    ball_speed,
    floating,
    foot_heading,
    foot_skate,
    foot_yaws,
    held_contacts,
    low_and_fast,
    mean_skate,
    measured_rest_heights,
    penetration,
    rest_heights,
    slides,
    sole_heights,
)
from .metrics_path import (
    body_facing,
    corners,
    distance_to_polyline,
    heading_error,
    hips_path_error,
    longest_run,
    moving_frames,
    near_corners,
    response_time,
    rest_speed,
    root_path_error,
    speed_error,
    start_response,
    steady_frames,
)
from .metrics_reference import (
    SPEED_EDGES,
    Baseline,
    CaptureReference,
    FrameStats,
    Reference,
    SpeedTable,
    capture_reference,
)
from .metrics_smoothness import angular_update, hips_sway, jerk, knee_acceleration, knee_angles

__all__ = [
    "ANIMAL_HEIGHT", "MEASURE_FPS", "SPEED_EDGES", "Baseline", "CaptureReference", "ContactScore", "FrameStats",
    "Ground", "PerContact", "Reference", "SpeedTable", "angular_update", "at_measuring_rate", "ball_positions",
    "ball_speed", "body_facing", "capture_reference", "contact_score", "corners", "difference",
    "distance_to_polyline", "floating", "foot_heading", "foot_skate", "foot_yaws", "heading_error", "held_contacts",
    "hips_path_error", "hips_speed", "hips_sway", "intervals", "jerk", "knee_acceleration", "knee_angles",
    "longest_run", "low_and_fast", "low_pass", "mean_skate", "measured_rest_heights", "moving_frames",
    "near_corners", "pelvis", "penetration", "phase_error", "response_time", "rest_heights", "rest_speed",
    "root_path_error", "size", "slides", "sole_heights", "speed_error", "start_response", "steady_frames",
    "windowed",
]  # fmt: skip
