#!/usr/bin/env python3
"""Writes the demo's network, with the weights of its golden training, as mnist/predict.onnx, for ONNX Runtime.

    tools/peers --serve && .venv-peers/bin/pip install onnx==1.23.2
    .venv-peers/bin/python tools/models/export_onnx.py

Any number of rows; ONNX's own layout of convolutions (NCHW). bench/serve_peers.cc compares its answers with ours.
"""

from __future__ import annotations

import pathlib

import mnist_network as network
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent / "mnist"
OPSET, IR_VERSION = 17, 8


def load_weights() -> dict[str, np.ndarray]:
    return {path.stem: np.load(path) for path in (FOLDER / "golden" / "final").glob("*.npy")}


def make_model(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    nodes, constants = [], {}

    def constant(name: str, value: np.ndarray) -> str:
        constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def add(operation: str, inputs: list[str], **attributes: object) -> str:
        output = f"x{len(nodes)}"
        nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    x = add("Cast", ["images"], to=TensorProto.FLOAT)
    x = add("Mul", [x, constant("scale", np.float32(1 / (255 * network.PIXEL_STD)))])
    x = add("Sub", [x, constant("mean", np.float32(network.PIXEL_MEAN / network.PIXEL_STD))])
    x = add("Reshape", [x, constant("image", np.array([-1, 1, 28, 28]))])
    for index in (1, 2):
        weight = weights[f"conv{index}.weight"].transpose(3, 2, 0, 1)
        names = [constant(f"conv{index}.weight", weight)]
        names.append(constant(f"conv{index}.bias", weights[f"conv{index}.bias"]))
        x = add("Conv", [x, *names], kernel_shape=[5, 5])
        x = add("Relu", [add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])])
        parts = [f"bn{index}.{part}" for part in ("scale", "bias", "mean", "var")]
        names = [constant(part, weights[part]) for part in parts]
        x = add("BatchNormalization", [x, *names], epsilon=network.BATCH_NORM_EPSILON)
    x = add("Transpose", [x], perm=[0, 2, 3, 1])  # the dense weights are those of NHWC
    x = add("Reshape", [x, constant("features", np.array([-1, 320]))])
    for layer in ("fc1", "fc2"):
        weight = constant(f"{layer}.weight", weights[f"{layer}.weight"])
        x = add("Gemm", [x, weight, constant(f"{layer}.bias", weights[f"{layer}.bias"])])
        x = add("Relu", [x]) if layer == "fc1" else x
    nodes.append(helper.make_node("LogSoftmax", [x], ["log_probs"], axis=1))
    graph = helper.make_graph(
        nodes,
        "mnist",
        [helper.make_tensor_value_info("images", TensorProto.UINT8, ["rows", 28, 28])],
        [helper.make_tensor_value_info("log_probs", TensorProto.FLOAT, ["rows", 10])],
        list(constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    onnx.save(make_model(load_weights()), FOLDER / "predict.onnx")


if __name__ == "__main__":
    main()
