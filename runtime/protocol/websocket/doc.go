// Package websocket is the load engine's WebSocket codec: the client's side of one connection,
// from the upgrade's request to messages sent and received.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry. The HTTP/1.1
// request around the upgrade is http1's. Source: RFC 6455 and, for compression, RFC 7692. It
// departs in this: a message is sent as one frame; the client never uses its compression context,
// so that a payload is deflated once for all connections; masks are drawn from the caller's
// generator, which is random enough against proxies that a load test knows, and predictable to a
// reader of the program.
//
// Invariants:
//
//	WEBSOCKET-1 However the server's bytes are cut, the outcome is the same, as long as Output is
//	            written in time.
//	WEBSOCKET-2 No input makes the codec panic, and what it keeps is bounded: a message by
//	            Config.MessageMax, also after inflation; idleMost frames in a row that carry nothing;
//	            one answer to a ping beyond pongsMost bytes of output.
//	WEBSOCKET-3 An idle connection holds no buffer and no inflater, but the server's context of
//	            32 KiB where CompressionTakeover allows it.
//	WEBSOCKET-4 A message sent and one received allocate nothing once the pool is warm.
//	WEBSOCKET-5 Each frame has a mask of its own, also the goodbye.
//	WEBSOCKET-6 Every error has an http1.Kind; Left makes "server CODE" of the server's goodbye.
//
// Example:
//
//	protocol, err := websocket.New(websocket.Config{Compression: websocket.CompressionFresh})
//	upgrade := protocol.Upgrade()
//	head = upgrade.AppendFields(head, random)
//	dialogue, err := upgrade.Begin(status, fields, generator.Uint32)
//	err = dialogue.Send(codec.MessageText, []byte("ping"), &sent)
//	n, err := socket.Write(dialogue.Output())
//	dialogue.Sent(n)
//	err = dialogue.Feed(received, listener)
//
// TestAutobahn plays the cases of Autobahn's fuzzing server, 1 to 7, 9, 10, 12 and 13, and says which do not apply.
//
// Read protocol.go, upgrade.go, extension.go, fault.go; prepared.go, mask.go, outbox.go, conn.go;
// text.go, pool.go, intake.go.
package websocket
