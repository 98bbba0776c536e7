"""The compiled kernels: C sources, how they are built, and how they are called."""
