"""Why a kernel died: from its account and how its process ended, as far as that is known."""
