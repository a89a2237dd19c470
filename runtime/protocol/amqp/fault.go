package amqp

import (
	"fmt"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoFrame      = breach("what came begins no frame of AMQP: is this a RabbitMQ server?")
	errEnd          = breach("a frame does not end where its length says")
	errShort        = breach("a frame is too short for a method")
	errContent      = breach("the header of a message is none of AMQP 0.9.1")
	errTable        = breach("a table of the server has a value that is none, is cut, or nests too deep")
	errContentOrder = breach("the server sent a part of a message that does not follow its method")
	errInterleaved  = breach("the server sent a method inside a message")
	errBody         = breach("a message is longer than its header says")
	errHeartbeat    = breach("the server sent a heartbeat that carries something")
	errChannel      = breach("the server used the channel that it had closed")
	errConfirm      = breach("the server confirmed a message that was not sent, or that it was not asked to confirm")
	errReturn       = breach("the server returned a message that was not mandatory")
	errConsumer     = breach("the server sent to a consumer that there is not")
	errFlood        = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d frames in a row carried nothing", idleMost)}
	errOwes         = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("the server asks, and does not take %d KiB of answers", oweMost>>10)}
	errSilent       = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errGone         = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection of a consumer"}
	errCut          = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a frame or a message"}
	errOver         = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errReceives     = &http1.Error{Kind: http1.KindValue, Detail: "a consumer only receives: send by vu.amqp.publish"}
	errAuto         = &http1.Error{Kind: http1.KindValue, Detail: "the consumer has ack = \"auto\", and the server takes each message for acknowledged: write ack = \"each\""}
)

func errFrame(size uint64, most int) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a frame says that it has %d bytes, and %d were agreed on", size, most)}
}

func errLarge(size uint64, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message says that it has %d bytes, and %d are taken: raise max_body", size, most)}
}

// The kinds of what a server does without a code.
const (
	kindNack   = http1.Kind("server nack")
	kindCancel = http1.Kind("server cancel")
)

// Codes of a goodbye.
const (
	codeGoodbye = 200
	codeRefused = 403 // in a greeting: the user is not let in
)

// serverError is what the server ends the channel or the connection with.
func serverError(m *call, text string, secrets ...string) *http1.Error {
	what := "channel"
	if m.of == connectionClose {
		what = "connection"
	}
	return &http1.Error{Kind: http1.Kind("server " + strconv.FormatUint(m.numbers[0], 10)), Detail: "the server closed the " + what + ": " + clip(text, secrets...)}
}

// clip returns a server's text without secrets and what would break a line.
func clip(s string, secrets ...string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, redact.Excerpt(s, redact.TextMost, secrets...))
}
