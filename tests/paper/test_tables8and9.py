"""Certificates beside attacks: left out where there are none, never because something is wrong."""

import numpy as np
import pytest
import torch

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.paper.tables8and9 import _evaluated_part


@pytest.mark.parametrize(
    ("error", "is_raised"),
    [(UnsupportedError("no bounds"), False), (InvalidInputError("bad"), True)],
)
def test_only_models_without_bounds_go_without_certificates(monkeypatch, error, is_raised):
    def refuse(*_args, **_options):
        raise error

    monkeypatch.setattr("ecoc.robustness.certify", refuse)
    network = torch.nn.Linear(2, 2)
    inputs, labels = np.full((2, 2), 0.5, dtype=np.float32), np.array([0, 1])
    arguments = (network, inputs, labels, [0.1], 2, 0, False)
    if is_raised:
        with pytest.raises(InvalidInputError, match="bad"):
            _evaluated_part(*arguments)
    else:
        assert _evaluated_part(*arguments).certified is None
