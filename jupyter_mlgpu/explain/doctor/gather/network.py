"""Whether data can be downloaded: asked only with --deep, for it leaves this machine."""

from __future__ import annotations

import urllib.error
import urllib.request

#: Where the lessons' data and weights come from: Keras's data sets, and Hugging Face.
SITES = ("storage.googleapis.com", "huggingface.co")
#: Seconds for one site.
SITE_S = 5.0


def answers(site: str) -> bool:
    """Whether a site answers at all; proxies are used as Python's own downloads use them."""
    request = urllib.request.Request(f"https://{site}/", method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=SITE_S):
            return True
    except urllib.error.HTTPError as error:  # it said no, so it was reached; 407 and 403 are a proxy's no
        return error.code not in (403, 407)
    except (OSError, ValueError):
        return False
