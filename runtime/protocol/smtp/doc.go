// Package smtp is the load engine's SMTP codec: the client's side of one connection that hands messages to
// a mail server.
//
// It is not a mail client: it owns no socket, no clock, no queue and no retry, and looks up no MX. An
// operation is one message for one or several recipients. The server's 250 says that it accepts the message,
// and nothing about its delivery.
// Source: RFC 5321 (SMTP), 5322 (messages), 2920 (PIPELINING), 3207 (STARTTLS), 4954 (AUTH), 2047 (words of
// headers), 2045, 2183 and 2231 (attachments).
//
// Invariants:
//
//	SMTP-1 However the server's bytes are cut, the outcome is the same.
//	SMTP-2 No input makes the codec panic, and what it keeps is bounded: a reply by reply.Most, the refusals
//	       of an operation by its recipients.
//	SMTP-3 A reply belongs to the oldest command without one. A reply that no command asked for ends the
//	       connection, unless it is 421.
//	SMTP-4 A message goes out when the server has said 354 and accepts a recipient, and never otherwise.
//	SMTP-5 The end of a message is never written behind a part of it that was given up.
//	SMTP-6 A password goes out in TLS alone, and nothing that the codec shows has it.
//	SMTP-7 An operation whose answer is not read allocates nothing once the pool is warm. An idle
//	       connection holds no buffer.
//	SMTP-8 A file is base64 once, for all messages that carry it. Beside 16 KiB of small ones, no message has a copy.
//
// Example:
//
//	protocol, err := smtp.New(smtp.Config{StartTLS: true})
//	greeting := protocol.Greet()
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := smtp.Compile(smtp.Message{From: reply.Plain("a@x.test"), To: to, Body: body})
//	err = conn.Operate(operation, smtp.Order{Date: date, ID: id})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, greeting.go, proof.go; message.go, coded.go, attachment.go, operation.go, conn.go, intake.go; describe.go.
package smtp
