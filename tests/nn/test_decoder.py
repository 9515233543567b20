import subprocess
import sys
from itertools import product
from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given
from tests.multiclass.cases import decodings

from ecoc.codes import digits
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import Soft
from ecoc.nn import OUTPUTS, CodeDecoder, CodeLoss

DTYPES = [torch.float32, torch.float64]


def by_hand(output, matrix, place, sample, normalise):
    """One class and one sample, by the definitions."""
    row = matrix[place]
    used = [(m, z) for m, z in zip(row.tolist(), sample, strict=True) if m]
    sides = [1 / (1 + exp(-m * z)) for m, z in used]
    divisor = len(used) if normalise else 1
    if output == "hamming":
        return -sum((1 - m * np.sign(z)) / 2 for m, z in zip(row, sample, strict=True))
    if output == "normalised-linear":
        ternary = normalise and not matrix.all()
        return sum(m * z for m, z in used) / (len(used) if ternary else 1)
    if output == "normalised-logistic":
        return sum(map(log, sides)) / divisor
    score = sum(sides) / divisor
    return log(score) if output == "log-soft" else score


@given(case=decodings())
def test_every_form_against_a_loop(case):
    code, scores = case
    for output, normalise, dtype in product(OUTPUTS, (True, False), DTYPES):
        found = CodeDecoder(code, output, normalise=normalise)(torch.tensor(scores, dtype=dtype))
        assert found.dtype == dtype
        expected = [
            [by_hand(output, code.matrix, row, sample, normalise) for row in range(code.n_classes)]
            for sample in scores.tolist()
        ]
        tolerance = 1e-4 if dtype == torch.float32 else 1e-10
        assert np.allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@given(case=decodings())
def test_scores_are_those_of_the_soft_decoder(case):
    code, scores = case
    found = CodeDecoder(code)(torch.tensor(scores)).numpy()
    assert found == pytest.approx(Soft()(scores, code.matrix))


@pytest.mark.parametrize("output", ["soft", "log-soft", "normalised-logistic", "normalised-linear"])
def test_gradients_against_differences(output):
    code = [[1, 1, 1, 0], [1, -1, -1, 1], [-1, 1, 0, -1]]
    logits = torch.randn(3, 4, dtype=torch.float64, generator=torch.manual_seed(0))
    assert torch.autograd.gradcheck(CodeDecoder(code, output), logits.requires_grad_())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_logit_is_too_large(output, dtype):
    logits = torch.tensor([[1e6, -1e6, 1e6]], dtype=dtype, requires_grad=True)
    found = CodeDecoder([[1, -1, 1], [1, 1, 0], [-1, 1, -1]], output)(logits)
    assert torch.isfinite(found).all()
    assert int(found.argmax()) == 0
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    assert torch.isfinite(gradient).all()


def test_where_the_score_is_saturated_the_log_still_has_a_gradient():
    code = [[1, 1], [-1, -1], [1, -1]]
    logits = torch.tensor([[500.0, 500.0]], requires_grad=True)

    def gradient(output):
        loser = CodeDecoder(code, output)(logits)[0, 1]
        return torch.autograd.grad(loser, logits)[0]

    assert not gradient("soft").any()
    assert gradient("log-soft") == pytest.approx(torch.tensor([[-0.5, -0.5]]), rel=1e-5)
    assert gradient("normalised-logistic") == pytest.approx(torch.tensor([[-0.5, -0.5]]))


def test_of_r_and_1_minus_r_the_smaller_keeps_its_gradient_on_both_sides():
    for sign in (1.0, -1.0):
        logits = torch.tensor([[sign * 40.0]], requires_grad=True)
        (found,) = torch.autograd.grad(CodeDecoder([[1], [-1]])(logits)[0, 0], logits)
        assert found.item() == pytest.approx(exp(-40), rel=1e-3)


def test_hamming_has_no_gradient_and_says_so():
    logits = torch.tensor([[0.3, -2.0]], requires_grad=True)
    found = CodeDecoder([[1, 1], [1, -1], [-1, 1]], "hamming")(logits)
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    assert not gradient.any()
    assert "gradient is 0" in CodeDecoder.__doc__


def test_it_prints_its_shape_and_moves_with_the_model():
    decoder = CodeDecoder([[1, 1], [1, -1], [-1, 1]], "log-soft")
    assert repr(decoder) == "CodeDecoder(3 classes, 2 columns, 'log-soft')"
    assert decoder.double().code.dtype == torch.float64
    assert not decoder.state_dict()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CodeDecoder([[1, 1], [1, -1]], "sof"), "Did you mean 'soft'"),
        (lambda: CodeDecoder([[1, 2], [1, -1]]), "Entries must be -1, 0 or"),
        (lambda: CodeDecoder(digits(9, n_symbols=3)), "CodeDecoder takes codebooks of two"),
        (lambda: CodeDecoder([[1, -1], [0, 0]]), "use every class"),
        (lambda: CodeDecoder([[1, 1], [1, -1]])(torch.zeros(2, 3)), r"shape \(n_samples, 2\)"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_without_torch_the_message_has_the_install_line():
    program = "import sys; sys.modules['torch'] = None; import ecoc.nn"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "pip install 'ecoc[nn]'" in result.stderr


def test_the_loss_is_the_mean_of_the_columns_logistic_losses():
    generator = np.random.default_rng(0)
    matrix = np.array([[1, 1, 0], [-1, 1, 1], [-1, -1, -1]])
    logits, targets = generator.normal(scale=3, size=(7, 3)), np.array([0, 0, 1, 2, 1, 0, 2])
    of_columns = [
        np.mean(
            [
                np.log1p(np.exp(-side * z))
                for side, z in zip(matrix[targets, column], logits[:, column], strict=True)
                if side
            ]
        )
        for column in range(3)
    ]
    given = torch.tensor(logits, requires_grad=True)
    loss = CodeLoss(matrix)(given, torch.tensor(targets))
    assert loss.item() == pytest.approx(np.mean(of_columns))
    loss.backward()
    # A column that does not use a class learns nothing from its samples.
    assert (given.grad[matrix[targets] == 0] == 0).all()
    assert (given.grad[matrix[targets] != 0] != 0).all()


def test_the_loss_refuses_what_does_not_fit():
    with pytest.raises(InvalidInputError, match=r"\(n_samples, 2\), not \(4, 3\)"):
        CodeLoss([[1, 1], [-1, 1], [1, -1]])(torch.zeros(4, 3), torch.zeros(4).long())
    with pytest.raises(InvalidInputError, match="every class"):
        CodeLoss([[1, -1], [0, 0], [-1, 1]])
