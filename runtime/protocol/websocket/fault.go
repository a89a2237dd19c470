package websocket

import (
	"fmt"
	"strconv"

	"hyperscale/runtime/protocol/http1"
)

// The codes of a goodbye (RFC 6455, 7.4.1).
const (
	CodeNormal      uint16 = 1000
	CodeAway        uint16 = 1001
	CodeProtocol    uint16 = 1002
	CodeUnsupported uint16 = 1003
	CodeNone        uint16 = 1005 // the goodbye has no code; it never travels
	CodeInvalid     uint16 = 1007
	CodePolicy      uint16 = 1008
	CodeTooLarge    uint16 = 1009
	CodeExtension   uint16 = 1010
	CodeInternal    uint16 = 1011
	CodeRestart     uint16 = 1012
	CodeLater       uint16 = 1013
	CodeGateway     uint16 = 1014
)

// meanings are the codes that may travel and that a registry names.
var meanings = map[uint16]string{
	CodeNormal: "normal closure", CodeAway: "going away", CodeProtocol: "protocol error",
	CodeUnsupported: "unsupported data", CodeInvalid: "invalid data", CodePolicy: "policy violation",
	CodeTooLarge: "message too large", CodeExtension: "an extension is missing", CodeInternal: "internal error",
	CodeRestart: "service restart", CodeLater: "try again later", CodeGateway: "bad gateway",
}

// mayTravel reports whether a goodbye may carry the code: one of the registry, or one of
// libraries (3000) and applications (4000).
func mayTravel(code uint16) bool {
	return meanings[code] != "" || code >= 3000 && code < 5000
}

// Left is the error of an operation that was open when the server said goodbye. Its kind is
// "server CODE", or closed where the goodbye has no code.
func Left(code uint16, reason string) error {
	if code == CodeNone {
		return &http1.Error{Kind: http1.KindClosed, Detail: "the server said goodbye without a code before its answer"}
	}
	detail := "the server said goodbye with " + strconv.Itoa(int(code))
	if meaning := meanings[code]; meaning != "" {
		detail += " (" + meaning + ")"
	}
	if reason != "" {
		detail += ": " + strconv.Quote(reason)
	}
	return &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(int(code))), Detail: detail}
}

// fault is a breach of the protocol: the code of our goodbye, and the error in results.
type fault struct {
	code uint16
	err  *http1.Error
}

func breach(detail string) *fault {
	return &fault{CodeProtocol, &http1.Error{Kind: http1.KindProtocol, Detail: detail}}
}

func breachf(format string, values ...any) *fault { return breach(fmt.Sprintf(format, values...)) }

var (
	faultMasked       = breach("a frame of the server is masked")
	faultLengthLong   = breach("a frame's length is not in its shortest form")
	faultLengthHuge   = breach("a frame's length is 2^63 or more")
	faultStray        = breach("a continuation came outside a message")
	faultInside       = breach("a message began inside another one")
	faultControlCut   = breach("a control frame is fragmented")
	faultControlLarge = breach("a control frame is longer than 125 bytes")
	faultCloseShort   = breach("a close frame has one byte: a code has two")
	faultText         = &fault{CodeInvalid, &http1.Error{Kind: http1.KindProtocol, Detail: "a text message is not UTF-8"}}
	faultReason       = &fault{CodeInvalid, &http1.Error{Kind: http1.KindProtocol, Detail: "the reason of a close frame is not UTF-8"}}
	faultFlood        = &fault{CodePolicy, &http1.Error{Kind: http1.KindFlood, Detail: "1,024 frames in a row carried nothing"}}
	faultDeflate      = &fault{CodeInvalid, &http1.Error{Kind: http1.KindEncoding, Detail: "a compressed message is no valid DEFLATE"}}
)

func faultLarge(most int64) *fault {
	return &fault{CodeTooLarge, &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message exceeds %d bytes: raise max_body", most)}}
}

func faultBomb(sent int, most int64) *fault {
	return &fault{CodeTooLarge, &http1.Error{Kind: http1.KindBomb, Detail: fmt.Sprintf("a message of %d compressed bytes grows to more than %d: raise max_body", sent, most)}}
}

var (
	errSilent    = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection without a close frame"}
	errTruncated = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a message"}
	errOver      = &http1.Error{Kind: http1.KindClosed, Detail: "the dialogue is over: nothing more can be sent"}
	errSendText  = &http1.Error{Kind: http1.KindValue, Detail: "a text message must be UTF-8: send it as binary"}
)
