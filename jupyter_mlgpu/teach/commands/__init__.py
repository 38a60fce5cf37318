"""What teaching adds to the magics and to the shell: `%mlc_share` and `jupyter mlgpu class`."""
