"""Parts of bench/file_through_gpu: stores, commands, bounds."""
