// Package talk prepares what steps exchange over WebSocket, and measures the exchanges under way.
//
// It carries nothing: runtime/engine/pool has the connections and asks an Exchange what to say, and
// when it has heard enough. Frames are those of runtime/protocol/websocket.
//
// Invariants:
//
//	TALK-1 A message without values is prepared once, before the clock; filled ones are built as
//	       they are sent.
//	TALK-2 An exchange counts a message once: sent when the kernel has it whole, received when
//	       its last byte was read.
//	TALK-3 Exchanges that ask for the same upgrade have the same key, and others another one.
//
// Example:
//
//	plan, upgrade, err := talk.Compile(request, workflow, &websocket.Pool{})
//	slot.Talk = stock.Begin(plan, account, values, due, false)
//
// Read plan.go, exchange.go.
package talk
