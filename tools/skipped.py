"""Says which tests were skipped, and why, from the records of pytest (JUnit's XML) that are named."""

from __future__ import annotations

import sys
from collections import Counter
from xml.etree import ElementTree


def main(records: list[str]) -> None:
    """Print how many tests there were, and a line for each reason to skip some, the most frequent first.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = pathlib.Path(folder, "tests.xml")
    ...     skipped = '<testcase><skipped message="no nft here"/></testcase>'
    ...     _ = record.write_text(f"<testsuite><testcase/>{skipped}{skipped}</testsuite>")
    ...     main([str(record)])
    3 tests in Python, 2 of them skipped
      2 skipped: no nft here
    """
    reasons: Counter[str] = Counter()
    tests = 0
    for record in records:
        try:
            cases = list(ElementTree.parse(record).iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            print(f"error: {record} tells nothing: {error}", file=sys.stderr)
            continue
        tests += len(cases)
        reasons.update(
            mark.get("message") or "no reason given" for case in cases for mark in case.iter("skipped")
        )
    print(f"{tests:,} tests in Python, {sum(reasons.values()):,} of them skipped")
    for reason, count in reasons.most_common():
        print(f"  {count:,} skipped: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
