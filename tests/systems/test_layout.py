import numpy as np
import pytest

from blender_addon.motion.errors import PackError
from blender_addon.systems.layout import Layout


def test_blocks_lie_one_after_another_and_join_undoes_get():
    layout = Layout.of(place=2, facing=3, contact=1)
    vector = np.arange(12.0).reshape(2, 6)
    parts = {block.name: layout.get(vector, block.name) for block in layout}
    assert parts["facing"].tolist() == [[2, 3, 4], [8, 9, 10]]
    assert np.array_equal(layout.join(**parts), vector)


def test_join_refuses_a_block_of_the_wrong_size():
    with pytest.raises(ValueError, match="facing"):
        Layout.of(place=2, facing=3).join(place=np.zeros(2), facing=np.zeros(2))


@pytest.mark.parametrize(
    ("other", "block"),
    [(dict(place=2, facing=4), "facing"), (dict(place=2), "facing"), (dict(place=2, facing=3, extra=1), "extra")],
)
def test_a_different_layout_is_refused_by_the_blocks_name(other, block):
    with pytest.raises(PackError, match=block):
        Layout.of(place=2, facing=3).check_same(Layout.of(**other), "feature")


def test_layout_survives_json_and_refuses_nonsense():
    layout = Layout.of(place=2, facing=3)
    assert Layout.from_json(layout.to_json()) == layout
    with pytest.raises(PackError):
        Layout.from_json([["place"]])
