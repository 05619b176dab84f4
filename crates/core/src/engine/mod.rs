//! Protection engines: an engine decides, a driver executes and times.
