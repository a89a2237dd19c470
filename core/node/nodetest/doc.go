// Package nodetest is a recording node.Env: a world of one node, which a test
// drives input by input and whose effects it reads as lines of text.
//
// It is not a simulator: nobody is at the other end of its streams, and nothing
// happens but what the test delivers. Only time that the test advances, and
// completions of the store unless they are held back, come by themselves.
//
// Source: house style 5.2.
//
// Invariants:
//
//	NODETEST-1 The same inputs give the same lines; their order is that of the effects.
//	NODETEST-2 What breaks a rule of node.Env stops the test: a message that cannot be
//	           encoded or is changed after it was sent, Load outside InputStart, a core
//	           started twice, an empty or long key.
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
// Read env.go (effects), drive.go (inputs), text.go (messages as text), story.go
// (the commands of a story), stories.go (which files are stories).
package nodetest
