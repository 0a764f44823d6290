"""A place to drop files on, which is a button too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nicegui import ui
from nicegui.events import MultiUploadEventArguments

from tacit.workbench.app.uploads import MOST_BYTES
from tacit.workbench.pages.start.fields import html


def drop_zone(
    words: str,
    *,
    coming: Callable[[], Any],
    uploaded: Callable[[MultiUploadEventArguments], Any],
    rejected: Callable[[], Any],
    endings: Iterable[str],
    testid: str,
    several: bool = False,
) -> ui.upload:
    """The place, and the upload behind it, which brings several files in one request.

    NiceGUI's own has no names for screen readers: it works unseen.
    """
    upload = ui.upload(
        auto_upload=True,
        multiple=several,
        max_file_size=MOST_BYTES,
        on_begin_upload=coming,
        on_multi_upload=uploaded,
        on_rejected=rejected,
    )
    name = "upload" if testid == "drop" else f"{testid}-upload"
    upload.props(f'accept="{",".join(endings)}" data-testid="{name}" aria-hidden="true"').classes(
        "unseen"
    )
    uploader = f"getElement({upload.id}).$refs.qRef"
    with (
        ui.element("button")
        .classes("dropping")
        .props(f'type="button" data-testid="{testid}"') as zone
    ):
        html("strong", words)
        html("span", f"or press to choose {'some' if several else 'one'}").classes("fine")
    zone.on("click", js_handler=f"() => {uploader}.pickFiles()")
    zone.on(
        "dragover",
        js_handler=(
            "(event) => { event.preventDefault(); event.currentTarget.classList.add('over'); }"
        ),
    )
    zone.on("dragleave", js_handler="(event) => event.currentTarget.classList.remove('over')")
    zone.on(
        "drop",
        js_handler=(
            f"(event) => {{ event.preventDefault(); "
            "event.currentTarget.classList.remove('over'); "
            f"{uploader}.addFiles(event.dataTransfer.files); }}"
        ),
    )
    return upload
