package gate

// FIXME on the other platform too.
