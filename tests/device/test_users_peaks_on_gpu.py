"""What the user reads of PyTorch's peak on a real CUDA GPU is what it would be without us."""

from __future__ import annotations

from jupyter_mlgpu.measure.runtime import Runtime

MIB = 1024**2


def test_peaks_of_earlier_cells_and_the_users_own_resets_are_theirs(torch):
    from torch.cuda import max_memory_allocated, reset_peak_memory_stats

    base = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    runtime = Runtime()

    def cell(work=lambda: None):
        measured = runtime.recorder.start("cell")
        found = work()
        record = measured.stop()
        peak = record.find("peak_memory_allocator")
        return (peak.value - base) // MIB, found

    def allocate():
        torch.empty(512 * MIB, dtype=torch.uint8, device="cuda")

    def measure():
        torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
        reset_peak_memory_stats()
        torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
        return (max_memory_allocated() - base) // MIB

    try:
        assert cell(allocate)[0] == 512
        assert cell(lambda: (max_memory_allocated() - base) // MIB) == (0, 512)
        assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] - base == 512 * MIB
        assert torch.cuda.max_memory_reserved() >= 512 * MIB
        assert cell(measure) == (256, 64)
        assert cell(lambda: (torch.cuda.max_memory_allocated() - base) // MIB) == (0, 64)
    finally:
        runtime.close()
