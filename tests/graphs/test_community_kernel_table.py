"""The table of the community's Metal plug-in is made by running its registrations: here, of a small one."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from tests.support import kernel_table

pytestmark = pytest.mark.kernel

KERNELS = {
    "metal_relu.mm": """
#import <Metal/Metal.h>
namespace tensorflow { namespace metal { namespace {
void Relu_Compute(void* kernel, TF_OpKernelContext* ctx) {
  [kernel encode:ctx];
}
// TF_NewKernelBuilder("NotThis", "in a comment")
void Register(const char* op, void (*compute)(void*, TF_OpKernelContext*), TF_DataType type,
              std::vector<const char*> attributes = {"T"}) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, kMetalDeviceType, nullptr, compute, &Relu_Delete);
  for (const char* one : attributes) TF_KernelBuilder_TypeConstraint(builder, one, type, status);
  if (type == TF_HALF) TF_KernelBuilder_HostMemory(builder, "shape");
  if (TF_GetCode(status) != TF_OK) LOG(ERROR) << "no";
  TF_RegisterKernelBuilder("name", builder, status);
}
}
void RegisterMetalReluKernels() {
  Register("Relu", &Relu_Compute, TF_FLOAT);
  Register("Fill", &Fill_Compute<Kind::kFill>, TF_HALF, {"T", "U"});
}
}}
""",
    "metal_training.mm": """
namespace {
void Register(const char* op) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, kMetalDeviceType, nullptr, nullptr, nullptr);
  TF_RegisterKernelBuilder("name", builder, status);
}
}
void RegisterMetalTrainingKernels() {
  Register("ResourceApplyAdam");
}
""",
    "metal_kernels.mm": """
void RegisterAllMetalKernels() {
  RegisterMetalReluKernels();
  if (ResourceVariableApiAvailable()) {
    RegisterMetalTrainingKernels();
  }
}
""",
}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / kernel_table.KERNELS
    folder.mkdir(parents=True)
    for name, text in KERNELS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def headers():
    found = importlib.util.find_spec("tensorflow")
    if found is None or shutil.which("g++") is None:
        pytest.skip("needs TensorFlow's headers and g++")
    return Path(found.origin).parent / "include"


@pytest.mark.slow
def test_what_is_registered_is_written_down_as_it_is_called(source, headers):
    assert kernel_table.registered_by_plugin(source, headers) == [
        ("Relu", {"device": "GPU", "types": {"T": ["float32"]}, "registrations": 1}),
        (
            "Fill",
            {
                "device": "GPU",
                "types": {"T": ["float16"], "U": ["float16"]},
                "registrations": 1,
                "host": ["shape"],
            },
        ),
    ]


@pytest.mark.slow
def test_what_needs_entry_points_for_variables_is_registered_only_where_they_are(source, headers):
    more = kernel_table.registered_by_plugin(source, headers, variables=True)
    assert [name for name, _ in more] == ["Relu", "Fill", "ResourceApplyAdam"]


def test_a_registration_that_is_not_cut_out_is_noticed(source):
    more = source / kernel_table.KERNELS / "metal_more.mm"
    more.write_text("static int now = [] { TF_NewKernelBuilder(0, 0, 0, 0, 0); }();\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="Not every registration"):
        kernel_table.program(source)
