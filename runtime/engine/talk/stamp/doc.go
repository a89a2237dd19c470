// Package stamp writes when a message was sent into its header, and reads it where the message arrives.
//
// A stamp names the clock of its machine: the one that counts from the start of the kernel, which nothing
// sets and all processes share. It is no wall clock, so two machines cannot compare theirs: a stamp of
// another one has no age, and the reader learns that it has none.
//
// Invariants:
//
//	STAMP-1 An age is the difference of two readings of one clock.
//	STAMP-2 A text that no clock wrote, one of another machine and one of the future have no age.
//
// Example:
//
//	header = clock.Append(nil, clock.Of(run.Base, run.Now))
//	age, known := clock.Age(header, clock.Of(run.Base, run.Now))
//
// Read stamp.go.
package stamp
