"""What keeps predictions on their kinks, by its definition."""

from __future__ import annotations

import numpy as np
import pytest

from verify.relu.dynamics.filippov import keeping_at_zero


def test_held_predictions_do_not_move_and_only_held_examples_answer() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20, 5, 8))
    gram = features @ features.swapaxes(1, 2)
    held = rng.random((20, 5)) < 0.5
    pull = np.where(held, 0.0, rng.normal(size=(20, 5)))
    answer = (keeping_at_zero(gram, held) @ pull[:, :, None])[:, :, 0]
    assert (answer[~held] == 0).all()
    velocity = (gram @ (pull + answer)[:, :, None])[:, :, 0]
    assert np.abs(velocity[held]).max() < 1e-12
    assert np.abs(velocity[~held & (pull != 0)]).min() > 1e-6


def test_one_held_example_by_hand() -> None:
    """G = [[1, ½], [½, 5/4]], x_2 held: z_2 = −(½/(5/4)) h_1 = −2/5 h_1."""
    gram = np.asarray([[[1.0, 0.5], [0.5, 1.25]]])
    found = keeping_at_zero(gram, np.asarray([[False, True]]))
    np.testing.assert_allclose(found[0, :, 0], [0.0, -0.4], rtol=1e-15)


def test_what_nothing_connects_is_answered_by_exactly_nothing() -> None:
    gram = np.asarray([[[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]]])
    found = keeping_at_zero(gram, np.asarray([[True, False, True]]))
    assert found[0, 2, :2].tolist() == [0.0, 0.0]
    assert found[0, 0, 2] == 0.0


def test_examples_that_depend_on_each_other_have_no_one_answer() -> None:
    gram = np.ones((1, 3, 3))
    with pytest.raises(np.linalg.LinAlgError):
        keeping_at_zero(gram, np.asarray([[True, True, False]]))
    assert keeping_at_zero(gram, np.asarray([[True, False, False]]))[0, 0, 1] == -1.0
