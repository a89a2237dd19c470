// Package node is the kernel: what a node of the cluster is, and all that it
// may ask of the world it runs in.
//
// It is not a runtime and not a simulator: those two implement Env and call
// Machine.Step, and a machine cannot tell which of them does.
//
// Source: DESIGN.md, "The kernel".
//
// Invariants:
//
//	NODE-1 A Machine given the same inputs in the same order has the same effects.
//	NODE-2 After SetTimer replaced or CancelTimer removed a key, the old firing is
//	       never delivered, not even when it already waited in the mailbox.
//	NODE-3 On one stream, messages of one priority arrive in the order sent. What is
//	       sent on a broken stream is dropped; StreamBroken always tells.
//	NODE-4 A full lane drops datagrams and breaks streams: nothing sent on a stream
//	       is lost in silence.
//	NODE-5 Store completions arrive in the order of the Puts, after the records are
//	       on disk.
//	NODE-6 An Instant belongs to one node's one incarnation and never crosses a wire.
//	NODE-7 A Message is a value: once sent it is never changed by anybody.
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
// Read node.go (names and time), input.go, env.go, timer.go, rand.go,
// mailbox.go, digest.go.
package node
