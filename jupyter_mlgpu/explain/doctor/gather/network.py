"""Checks if data can be downloaded, only with --deep because it sends requests."""

from __future__ import annotations

import urllib.error
import urllib.request

#: Hosts of the lessons' data and weights: Keras's data sets, and Hugging Face.
SITES = ("storage.googleapis.com", "huggingface.co")
#: Most seconds for one site.
SITE_S = 5.0


def answers(site: str) -> bool:
    """Return True if a site answers; proxies are used as in Python's own downloads."""
    request = urllib.request.Request(f"https://{site}/", method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=SITE_S):
            return True
    except urllib.error.HTTPError as error:  # the site was reached, unless the status is a proxy's 403 or 407
        return error.code not in (403, 407)
    except (OSError, ValueError):
        return False
