"""Networks that a column can have, many of them as one, and intervals carried through them."""
