"""Image files as inputs."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from executorch_webgpu.errors import InvalidArgument, MissingExtra
from executorch_webgpu.format.plan import Dynamism
from executorch_webgpu.insight.inputs import make_inputs
from tests.insight.metas import meta, tensor

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "x.png"
    Image.fromarray(PIXELS).save(path)
    return str(path)


def read(image, *sizes, **options):
    remarks = []
    (got,) = make_inputs(meta(tensor(*sizes, **options)), [image], remark=remarks.append)
    return got, remarks


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((1, 3, 5, 7), PIXELS.transpose(2, 0, 1)[None]),
        ((3, 5, 7), PIXELS.transpose(2, 0, 1)),
        ((1, 5, 7, 3), PIXELS[None]),
        ((5, 7, 3), PIXELS),
    ],
)
def test_colour_is_laid_out_as_the_shape_says(image, sizes, expected):
    got, remarks = read(image, *sizes)
    np.testing.assert_array_equal(got, expected.astype(np.float32) / 255, strict=True)
    assert not remarks


@pytest.mark.parametrize("sizes", [(1, 1, 5, 7), (1, 5, 7), (1, 5, 7, 1), (5, 7, 1), (5, 7)])
def test_grey(image, sizes):
    got, _ = read(image, *sizes)
    grey = np.asarray(Image.fromarray(PIXELS).convert("L"), np.float32) / 255
    np.testing.assert_array_equal(got, grey.reshape(sizes), strict=True)


def test_half_and_bytes(image):
    half, _ = read(image, 5, 7, 3, dtype="float16")
    raw, _ = read(image, 5, 7, 3, dtype="uint8")
    assert half.dtype == np.float16 and half.max() <= 1
    np.testing.assert_array_equal(raw, PIXELS, strict=True)


def test_another_size_is_resized_and_said(image):
    got, remarks = read(image, 1, 3, 10, 14)
    assert got.shape == (1, 3, 10, 14)
    assert len(remarks) == 1 and "resized from 7x5 to 14x10" in remarks[0]


def test_a_dynamic_size_is_that_of_the_image(image):
    got, remarks = read(image, 1, 3, 64, 64, dynamism=Dynamism.DYNAMIC_BOUND)
    assert got.shape == (1, 3, 5, 7) and not remarks


def test_sixteen_bits_are_scaled(tmp_path):
    deep = np.array([[0, 257, 65535]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    (got,) = make_inputs(meta(tensor(1, 3)), [str(tmp_path / "deep.png")])
    np.testing.assert_allclose(got, [[0, 1 / 255, 1]], atol=1e-6)


@pytest.mark.parametrize("sizes", [(10,), (1, 4, 5, 7), (2, 3, 5, 7), (1, 1, 3, 5, 7)])
def test_a_shape_that_is_no_image(image, sizes):
    with pytest.raises(InvalidArgument, match="an image fits"):
        read(image, *sizes)


def test_ints_take_no_image(image):
    with pytest.raises(InvalidArgument, match="input 0 is int64"):
        read(image, 5, 7, 3, dtype="int64")


def test_a_damaged_image(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(InvalidArgument, match="not an image"):
        read(str(path), 5, 7)


def test_without_pillow(image, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"executorch-webgpu\[image\]"):
        read(image, 5, 7)
