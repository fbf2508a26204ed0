import json
from pathlib import Path

import pytest

from blender_addon.motion.errors import GaitsmithError
from blender_addon.motion.report import Figure, QualityReport
from tools.bench_compare import compare, main, read


def written(path: Path, slides: dict[str, float]) -> Path:
    """A file as the courses' bench writes it: one slide (mm) for each case, and a figure without a limit."""
    reports = [
        QualityReport((Figure.of("slide_max", "Slide", slide, "mm", 3.0), Figure.of("sway", "Sway", 1.0, "")), title)
        for title, slide in slides.items()
    ]
    path.write_text(json.dumps({"reports": [report.to_json() for report in reports], "failures": []}))
    return path


@pytest.fixture
def files(tmp_path) -> list[Path]:
    one = {"s flat 0.30": 1.0, "s flat 0.50": 2.0, "s flat 0.80": 9.0, "s stairs 0.50": 2.0, "s flat 2.00": 2.0}
    other = {"s flat 0.30": 1.5, "s flat 0.50": 2.5, "s flat 0.80": 3.0, "s stairs 0.50": 4.0, "s flat 1.70": 2.0}
    return [written(tmp_path / "a.json", one), written(tmp_path / "b.json", other)]


def test_cases_that_all_walked_are_counted_by_ground_with_median_and_worst(files, capsys):
    assert main([str(path) for path in files] + ["--names", "Learned,Phased"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith("| Slide")]
    assert rows == [
        "| Slide | at most 3 mm | 2 of 3; 2 / 9 | 3 of 3; 2.5 / 3 |",
        "| Slide | at most 3 mm | 1 of 1; 2 / 2 | 0 of 1; 4 / 4 |",
    ]
    assert "| figure | wanted | Learned | Phased |" in lines and not any("Sway" in line for line in lines)
    heads = [line for line in lines if line.startswith("**")]
    assert heads[0].startswith("**Level ground, 3 cases**") and heads[1].startswith("**Other terrains, 1 cases**")
    assert "| all figures | | 2 of 3; 1 bad | 3 of 3; 0 bad |" in lines
    assert "Learned walked 1 cases more, which are left out." in lines


def test_packs_without_a_common_case_have_nothing_to_compare(tmp_path, capsys):
    files = [written(tmp_path / "a.json", {"s flat 0.30": 1.0}), written(tmp_path / "b.json", {"s noise 0.30": 1.0})]
    assert compare({path.stem: read(path) for path in files}) == []
    assert main([str(path) for path in files]) == 0 and "No case was walked by all" in capsys.readouterr().out


def test_other_files_are_refused(tmp_path, capsys):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(GaitsmithError, match="holds no reports"):
        read(tmp_path / "x.json")
    assert main([str(tmp_path / "missing.json")]) == 2 and "missing.json" in capsys.readouterr().err
