"""Runs one data plane until it is told to stop: ``python -m lossylink.dataplane CONFIGURATION``, in JSON.

The data plane is Rust inside the extension module: one file to install, one to find, and its version cannot
differ from that of the package. Nothing of Python runs while frames pass.
"""

from __future__ import annotations

import sys

from lossylink import _native

if __name__ == "__main__":
    sys.exit(_native.live_main(sys.argv[1:]))
