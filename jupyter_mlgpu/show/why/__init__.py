"""Why a cell took its time."""
