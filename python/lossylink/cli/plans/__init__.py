"""``lossylink plan``: one link, many links, a fabric, a code."""
