"""The magic `%mlc_share`, and the commands `jupyter mlgpu class` and `jupyter mlgpu lessons`."""
