// Package talk prepares what steps exchange in messages, and measures the exchanges under way and the
// sessions of functions.
//
// It carries nothing: runtime/engine/pool has the connections and asks an Exchange how to open one,
// what to say, and when it has heard enough. A verb answers for its protocol, one file each; frames
// are those of runtime/protocol.
//
// Invariants:
//
//	TALK-1 A message without values is prepared once, before the clock; filled ones are built as
//	       they are sent.
//	TALK-2 An exchange counts a message once: sent when the kernel has it whole, received when
//	       its last byte was read.
//	TALK-3 Exchanges that open a connection alike have the same key, and others another one.
//	TALK-4 A session's functions receive what came whole, once and in order. Its inbox is full at 256
//	       messages or 1 MiB, and what one more read brings comes on top.
//	TALK-5 A message answers the oldest one sent that has no answer, and is timed by the read that
//	       brought it.
//
// Example:
//
//	plan, upgrade, err := talk.NewPlan(request, workflow, &talk.Memory{})
//	slot.Talk = stock.Begin(plan, account, values, due, false)
//	slot.Talk = stock.Open(greeting, waiter, account, due, keeps) // a session
//
// Read compile.go, plan.go, exchange.go, custom.go, websocket.go, redis.go, layout.go, nats.go, kafkacluster.go,
// kafkarecord.go, kafka.go, mqtt.go, amqp.go, files.go, smtp.go, mongodb.go, sql.go, raw.go; session.go.
package talk
