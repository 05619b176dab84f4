"""What touches Linux: the live lab, guards and their service, kernels in virtual time, software switches."""
