"""Roles found by names, for the skeleton families that are known."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from blender_addon.motion.roles import FAMILIES, roles_by_name


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("prefix", ["", "mixamorig:", "DEF-"])
def test_each_family_knows_its_own_names(family: str, prefix: str) -> None:
    table = FAMILIES[family]
    assert roles_by_name([prefix + name for name in table.values()]) == {r: prefix + n for r, n in table.items()}


def test_the_table_of_the_data_agrees(shared_data: Path) -> None:
    columns = {"left_hip": "left_hip", "right_knee": "right_knee", "left_ankle": "left_ankle", "right_toe": "right_toe",
               "left_shoulder": "left_shoulder", "right_elbow": "right_elbow", "left_clavicle": "left_clavicle",
               "head": "head", "hips": "hips"}  # fmt: skip
    known = 0
    with open(shared_data / "skeletons.tsv", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["family"] in FAMILIES:
                known += 1
                for column, role in columns.items():
                    if row[column]:
                        assert FAMILIES[row["family"]][role] == row[column], (row["family"], role)
    assert known


def test_a_cube_has_no_roles() -> None:
    assert roles_by_name(["Cube", "Bone", "Bone.001"]) == {}
