// Package reply reads the replies of mail and file servers: a code of three digits, and lines of text.
//
// It is not a codec: runtime/protocol/smtp and runtime/protocol/ftp are, and share it.
// Source: RFC 5321, 4.2.1, and RFC 959, 4.2, whose lines in the middle of a reply need no code.
//
// Invariants:
//
//	REPLY-1 However the server's bytes are cut, Reader finds the same replies.
//	REPLY-2 What it keeps of a reply is bounded by Most, and a reply that arrives whole is not copied.
//	REPLY-3 No input makes it panic.
//
// Example:
//
//	var r reply.Reader
//	for len(b) > 0 {
//		one, used, err := r.Next(b)
//		b = b[used:]
//		if one.Code != 0 {
//			answered(one.Code, one.Text())
//		}
//	}
//
// Read reply.go, fault.go, values.go.
package reply
