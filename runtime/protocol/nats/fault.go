package nats

import (
	"fmt"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoServer   = breach("what came is no INFO: is this a NATS server?")
	errNoLine     = breach("what came begins no line of NATS")
	errLineEnd    = breach("a line of the server does not end with CR LF")
	errEnd        = breach("a message does not end with CR LF where its length says")
	errSize       = breach("a message says how long it is with something that is no number")
	errHeadSize   = breach("a message's header is longer than the message")
	errSubject    = breach("a message has no subject, no subscription or no length")
	errWanted     = breach("a message came for a subscription that was not made")
	errPong       = breach("the server sent a PONG that no PING asked for")
	errHead       = breach("a message's header does not begin with " + headLine + ", or does not end")
	errPlace      = breach("a message does not say where it stands in its stream: it is none of the consumer's")
	errStatus     = breach("an answer to a request for messages has no status")
	errConsumer   = breach("what the server says of the consumer is no answer of JetStream")
	errAck        = breach("what acknowledges a message is no answer of JetStream: a service replied to the subject, and no stream has it")
	errFields     = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message's header has more than %d fields", fieldsMost)}
	errLine       = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a line of the server exceeds %d bytes", lineMost)}
	errFlood      = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d lines in a row carried no message", idleMost)}
	errOwes       = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("the server sends pings, and does not take %d KiB of answers", oweMost>>10)}
	errSilent     = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errGone       = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection of a subscription"}
	errCut        = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a message"}
	errNoConsumer = &http1.Error{Kind: kindNone, Detail: "nothing answers for the consumer: it was deleted, or JetStream is off in the server or for this user"}
	errOver       = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errReceives   = &http1.Error{Kind: http1.KindValue, Detail: "a subscription only receives: send by vu.nats.publish"}
	errHeads      = &http1.Error{Kind: http1.KindValue, Detail: "headers: the server takes none (headers of its INFO): upgrade it, or leave them out"}
)

func errLarge(size, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message says that it has %d bytes, and %d are taken: raise max_body", size, most)}
}

// errPayload is the error of a message that the server would not take.
func errPayload(size int, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("data: the message has %d bytes with its headers, and the server takes %d (max_payload of its INFO): send less, or raise max_payload in the server", size, most)}
}

const codeMost = 40 // letters of an error's code

// CodeOther is the code of an error that names none.
const CodeOther = "other"

// codeOf returns the code of an error's text: its words before what they are about, in lower case.
func codeOf(text string) string {
	for _, end := range []string{" for ", " - ", ":", ","} {
		text, _, _ = strings.Cut(text, end)
	}
	text = strings.ToLower(strings.TrimSpace(text))
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && r != ' ' }
	if text == "" || len(text) > codeMost || strings.ContainsFunc(text, odd) {
		return CodeOther
	}
	return text
}

// serverError is an error that the server told in a line, without secrets.
func serverError(text string, secrets ...string) *http1.Error {
	text = redact.Excerpt(text, redact.TextMost, secrets...)
	return &http1.Error{Kind: http1.Kind("server " + codeOf(text)), Detail: "the server answered " + text}
}

// survives reports whether the connection goes on behind an error: the server closes it behind every other.
func survives(text string) bool {
	switch codeOf(text) {
	case "permissions violation", "invalid subject", "invalid publish subject":
		return true
	}
	return false
}
