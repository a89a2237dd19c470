// Package node is the kernel: what a node of the cluster is, and all that it may ask of
// the world it runs in.
//
// It is not a runtime and not a simulator. Both implement Env and call Machine.Step; a
// machine cannot know which one does.
//
// Source: DESIGN.md, "The kernel".
//
// Invariants:
//
//	NODE-1 A Machine given the same inputs in the same order has the same effects.
//	NODE-2 After SetTimer replaces a key, or CancelTimer removes it, the old firing never
//	       arrives, even if it already waits in the mailbox.
//	NODE-3 On one stream, messages of one priority arrive in the order sent, without those that
//	       a newer one replaced while they waited. A broken stream drops what is sent on it;
//	       StreamBroken always arrives.
//	NODE-4 A full lane drops datagrams and what its protocol sends again, leaves a stub of a
//	       request, and breaks the stream of everything else: no message of a stream is lost
//	       silently. A mailbox is bounded in messages and in bytes.
//	NODE-5 Store completions arrive in the order of the Puts, after the records are on
//	       disk.
//	NODE-6 An Instant belongs to one incarnation of one node and never crosses a wire.
//	NODE-7 A Message is a value: neither sender nor receiver changes it once it is sent.
//
// Example:
//
//	func (m *Machine) Step(env node.Env, in *node.Input) {
//		switch in.Kind {
//		case node.InputStart:
//			env.SetTimer(node.Key(node.PartPing, 1), time.Second)
//		case node.InputTimer:
//			env.Datagram(m.peer, &toy.Ping{Counter: 1})
//		}
//	}
//
// Read node.go (names and time), input.go, env.go, output.go, timer.go, rand.go,
// mailbox.go, digest.go.
package node
