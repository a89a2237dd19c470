// Package nodetest is a recording node.Env. A test drives one machine input by input and
// reads its effects as lines of text.
//
// It is not a simulator: its streams have no other end, and it plays only what the test
// delivers. Two things arrive by themselves: timers that are due when the test advances
// time, and completions of the store, unless the test holds them back.
//
// Source: house style 5.2.
//
// Invariants:
//
//	NODETEST-1 The same inputs give the same lines, in the order of the effects.
//	NODETEST-2 A machine that breaks a rule of node.Env stops the test. Examples: a message
//	           that cannot be encoded or changes after it is sent, Load outside InputStart,
//	           a core started twice, an empty or long key.
//	NODETEST-3 A crash loses the Puts that have not completed, and nothing else.
//
// Example:
//
//	w := nodetest.New(nodetest.Config{Self: peer, New: func() node.Machine { return worker.New(c) }})
//	datadriven.RunTest(t, "testdata/dispatch.txt", func(t *testing.T, d *datadriven.TestData) string {
//		return w.Run(t, d)
//	})
//
// and in the story:
//
//	receive m1 ShardDispatch Shard=j1/0/0 Fence=1.1.1 Cores=2 VUs=10
//	----
//	put slice/j1/0/0 (34 bytes)
//	-> m1 ShardAccepted Shard=j1/0/0 Fence=1.1.1
//
// Read env.go, drive.go (inputs); the effects: record.go (lines), clock.go (timers),
// streams.go, storage.go, executors.go, outputs.go; text.go (messages as text), story.go (the commands
// of a story), stories.go (which files are stories).
package nodetest
