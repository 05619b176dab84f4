//! Frame formats: one file a header, a byte view and a plain struct each.
