"""Maps the types of a page's requests to functions that answer them from the message's content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mlgpu.jupyter.notebook.browser import state
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import DoctorLight
from jupyter_mlgpu.jupyter.notebook.browser.live_counters import LiveCounters
from jupyter_mlgpu.jupyter.notebook.browser.record_pages import RecordPages
from jupyter_mlgpu.jupyter.notebook.browser.sidebar_settings import SidebarSettings
from jupyter_mlgpu.jupyter.notebook.cell.receipt_threshold import ReceiptThreshold
from jupyter_mlgpu.jupyter.notebook.magics import record_files
from jupyter_mlgpu.measure.runtime import Runtime

Content = Mapping[str, Any]
PageAnswer = Callable[[Content], Mapping[str, Any]]


def answers(
    runtime: Runtime,
    *,
    watch: LiveCounters,
    settings: SidebarSettings,
    receipt_threshold: ReceiptThreshold,
    doctor: DoctorLight,
    record_pages: RecordPages,
    catch_up: Callable[[], None],
) -> Mapping[str, PageAnswer]:
    """Return the answers of one kernel; `catch_up` reads all remaining lines of cells into their records."""

    def keep_watching(content: Content) -> Mapping[str, Any]:
        return watch.renew()

    def compare(content: Content) -> Mapping[str, Any]:
        from jupyter_mlgpu.jupyter.notebook.magics.compare_command import compare_records  # rarely used

        return compare_records(content, runtime)

    def save(content: Content) -> Mapping[str, Any]:
        catch_up()
        return record_files.save_for_browser(content, runtime)

    def older_records(content: Content) -> Mapping[str, Any]:
        return state.records_before(runtime, int(content["before"]))

    return {
        "watch": keep_watching,
        "device": settings.device,
        "trace": settings.trace,
        "receipts": receipt_threshold.set,
        "compare": compare,
        "doctor": doctor.ask,
        "save": save,
        "records": older_records,
        **record_pages.answers(),
    }
