package loop

// Somebody: a test counts, too.
var anybody = "a name does not"
