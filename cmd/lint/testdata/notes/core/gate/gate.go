package gate

// TODO: write it.
const Text = "a TODO in a string is data"

/*
A longer one,
  XXX indented.
*/

const next = 1 // HACK, FIXME
// TODOS and hacks are words.
