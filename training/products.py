"""The quicker of torch's two ways to multiply 32-bit matrices on this processor, if it is as exact."""

from __future__ import annotations

import torch

#: Greatest error of a product of 64 rows, relative to its deviation, that still counts as 32 bits.
_EXACT = 1e-5


def quick_products() -> bool:
    """Let products of 32-bit matrices run by oneDNN where that changes nothing; returns whether they do.

    On AMD processors MKL uses half of the vector unit: 110 GFLOP/s on one thread of an EPYC, oneDNN 250. oneDNN is
    only taken when it is allowed 16-bit factors, which it uses on processors that have matrix tiles: there the answer
    is not exact, and all is left as it was.
    """
    try:
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined, unused-ignore]
    except (AttributeError, RuntimeError):  # an older torch
        return False
    if all(_exact(*shape) for shape in ((64, 480, 4096), (64, 4096, 480), (480, 64, 4096))):
        return True
    torch.backends.mkldnn.matmul.fp32_precision = "ieee"  # type: ignore[attr-defined, unused-ignore]
    return False


def _exact(rows: int, inner: int, columns: int) -> bool:
    random = torch.Generator().manual_seed(0)
    a, b = torch.randn(rows, inner, generator=random), torch.randn(inner, columns, generator=random)
    truth = a.double() @ b.double()
    return float((a @ b - truth).abs().max() / truth.std()) < _EXACT
