package mqtt

import (
	"fmt"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoServer   = breach("what came is no CONNACK: is this an MQTT server?")
	errConnack    = breach("the server's CONNACK is not one of this version of MQTT")
	errResumed    = breach("the server says that it has a session, and the client began anew")
	errLength     = breach("a packet's length has more bytes than it may have")
	errProperties = breach("a packet's properties end before their length says")
	errFlags      = breach("a packet has flags that it may not have")
	errTopic      = breach("a message has no topic, or one that no message may have")
	errAlias      = breach("a message has a topic alias, and the client takes none")
	errWanted     = breach("a message came, and the connection subscribes to nothing")
	errPong       = breach("the server sent a PINGRESP that no PINGREQ asked for")
	errFields     = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a packet has more than %d properties", fieldsMost)}
	errControl    = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a packet without a message exceeds %d bytes", controlMost)}
	errFlood      = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d packets in a row carried no message", idleMost)}
	errOwes       = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("the server sends messages, and does not take %d KiB of acknowledgements", oweMost>>10)}
	errSilent     = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered: it refuses the message, or another connection has its client_id"}
	errGone       = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection of a subscription: perhaps another connection has its client_id"}
	errGoodbye    = &http1.Error{Kind: http1.KindClosed, Detail: "the server said goodbye, and gave no reason"}
	errCut        = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a packet"}
	errOver       = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errReceives   = &http1.Error{Kind: http1.KindValue, Detail: "a subscription only receives: send by vu.mqtt.publish"}
	errRetain     = &http1.Error{Kind: http1.KindValue, Detail: "retain: the server keeps no messages (retain available of its CONNACK): leave retain out"}
)

func errKind(p packetType) *http1.Error {
	return breach("the server sent a packet of the kind %s, which it may not here", p)
}

func errIdentifier(p packetType) *http1.Error {
	return breach("a %s names no packet identifier, or one that was not used", p)
}

func errPacketEnd(p packetType) *http1.Error {
	return breach("a %s has more bytes than it may have", p)
}

// errEarly is of an acknowledgement of a message that has not gone out.
var errEarly = breach("the broker acknowledged a message before all of it was sent")

func errStage(p packetType) *http1.Error {
	return breach("a %s came, and the message's quality of service has another step next", p)
}

func errProperty(id byte) *http1.Error {
	return breach("the property %#02x is none, or has a value that it may not have", id)
}

func errCodes(p packetType, n, want int) *http1.Error {
	return breach("a %s has %d codes for %d filters, or one that it may not have", p, n, want)
}

func errDead(keepAlive uint16) *http1.Error {
	return &http1.Error{Kind: http1.KindClosed, Detail: fmt.Sprintf("the server did not answer a PINGREQ within keep_alive, %d s", keepAlive)}
}

func errLarge(size, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message has %d bytes, and %d are taken: raise max_body", size, most)}
}

func errPacket(size int, most uint32) *http1.Error {
	return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("data: the packet has %d bytes, and the server takes %d (maximum packet size of its CONNACK): send less", size, most)}
}

func errQoS(qos, most uint8) *http1.Error {
	return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("qos: the message has %d, and the server takes %d at most (maximum QoS of its CONNACK)", qos, most)}
}

// codeBad is the least reason code that is an error.
const codeBad = 0x80

// codeText returns the standard's words for a reason code.
func codeText(code uint8) string {
	switch code {
	case codeBad:
		return "unspecified error"
	case 0x81:
		return "malformed packet"
	case 0x82:
		return "protocol error"
	case 0x83:
		return "implementation specific error"
	case 0x84:
		return "unsupported protocol version"
	case 0x85:
		return "client identifier not valid"
	case 0x86:
		return "bad user name or password"
	case 0x87:
		return "not authorized"
	case 0x88:
		return "unavailable"
	case 0x89:
		return "busy"
	case 0x8A:
		return "banned"
	case 0x8B:
		return "shutting down"
	case 0x8C:
		return "bad authentication method"
	case 0x8D:
		return "keep alive timeout"
	case 0x8E:
		return "session taken over"
	case 0x8F:
		return "topic filter invalid"
	}
	return laterText(code)
}

func laterText(code uint8) string {
	all := [...]string{
		"topic name invalid", "packet identifier in use", "packet identifier not found", "receive maximum exceeded", "topic alias invalid", "packet too large",
		"message rate too high", "quota exceeded", "administrative action", "payload format invalid", "retain not supported", "qos not supported", "use another server",
		"moved", "shared subscriptions not supported", "connection rate exceeded", "maximum connect time", "subscription identifiers not supported",
		"wildcard subscriptions not supported",
	}
	if at := int(code) - 0x90; at >= 0 && at < len(all) {
		return all[at]
	}
	return "other"
}

// serverError is an error that the server told by a reason code, without secrets.
func serverError(code uint8, reason string, secrets ...string) *http1.Error {
	word := codeText(code)
	detail := fmt.Sprintf("the server answered %#02x, %s", code, word)
	if reason != "" {
		detail += ": " + redact.Excerpt(reason, redact.TextMost, secrets...)
	}
	if code == 0x8E {
		detail += ": another connection has its client_id: write one with ${vu}, or leave it out"
	}
	return &http1.Error{Kind: http1.Kind("server " + word), Detail: detail}
}

// refusal is the error of a connection that the server does not take.
func refusal(code uint8, reason, secret string) *http1.Error {
	old := [...]uint8{0, 0x84, 0x85, 0x88, 0x86, 0x87} // of version 3
	was := code
	if int(code) < len(old) {
		code = old[code]
	}
	err := serverError(code, reason, secret)
	if was < codeBad {
		err.Detail = fmt.Sprintf("the server refused the connection with %d, %s", was, codeText(code))
	}
	switch code {
	case 0x84:
		err.Detail += ": write version = \"3.1.1\", or \"5\""
	case 0x86, 0x87, 0x8C:
		err.Kind = http1.KindAuth
	}
	return err
}
