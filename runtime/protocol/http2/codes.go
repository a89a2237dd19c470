package http2

import (
	"strconv"

	"hyperscale/runtime/protocol/http1"
)

// Code is an error code of RST_STREAM and GOAWAY (RFC 9113, 7).
type Code uint32

// The codes of RFC 9113.
const (
	CodeNone            Code = 0x0
	CodeProtocol        Code = 0x1
	CodeInternal        Code = 0x2
	CodeFlowControl     Code = 0x3
	CodeSettingsTimeout Code = 0x4
	CodeStreamClosed    Code = 0x5
	CodeFrameSize       Code = 0x6
	CodeRefusedStream   Code = 0x7
	CodeCancel          Code = 0x8
	CodeCompression     Code = 0x9
	CodeConnect         Code = 0xa
	CodeEnhanceYourCalm Code = 0xb
	CodeSecurity        Code = 0xc
	CodeHTTP11          Code = 0xd
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
	"STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
	"CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "code " + strconv.FormatUint(uint64(c), 10)
}

// codeErrors holds one error a code, so that a server that refuses everything costs no
// allocation; unknown codes share the last.
type codeErrors [len(codeNames) + 1]*http1.Error

func errorsByCode(kind http1.Kind, say func(code string) string) (all codeErrors) {
	for i := range all {
		name := "an unknown code"
		if i < len(codeNames) {
			name = codeNames[i]
		}
		all[i] = &http1.Error{Kind: kind, Detail: say(name)}
	}
	return all
}

func (e *codeErrors) of(c Code) *http1.Error { return e[min(int64(c), int64(len(e)-1))] }

var (
	errReset = errorsByCode(http1.KindStreamReset, func(code string) string {
		return "the server reset the stream with " + code
	})
	errGoaway = errorsByCode(http1.KindGoaway, func(code string) string {
		return "the server ended the connection with " + code + " before it processed the request"
	})
	errClosedBy = errorsByCode(http1.KindClosed, func(code string) string {
		return "the connection was closed before the response began, after GOAWAY with " + code
	})
	errTruncatedBy = errorsByCode(http1.KindTruncated, func(code string) string {
		return "the connection was closed in the middle of the response, after GOAWAY with " + code
	})
	errRefused   = &http1.Error{Kind: http1.KindRefusedStream, Detail: "the server refused the stream before it processed the request"}
	errClosed    = &http1.Error{Kind: http1.KindClosed, Detail: "the connection was closed before the response began"}
	errTruncated = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of the response"}
)

// fault is a peer's error: the code to send, and the error in results.
type fault struct {
	code Code
	err  *http1.Error
}

func protocolFault(code Code, detail string) *fault {
	return &fault{code, &http1.Error{Kind: http1.KindProtocol, Detail: detail}}
}

func flowFault(detail string) *fault {
	return &fault{CodeFlowControl, &http1.Error{Kind: http1.KindFlowControl, Detail: detail}}
}

// Faults of the connection: every stream fails with them.
var (
	faultHTTP1        = protocolFault(CodeProtocol, "the answer is HTTP/1, not HTTP/2")
	faultTLS          = protocolFault(CodeProtocol, "the answer is TLS, not HTTP/2: write https:// in the URL")
	faultPreface      = protocolFault(CodeProtocol, "the server's first frame is not SETTINGS")
	faultFrameLarge   = protocolFault(CodeFrameSize, "a frame is larger than 16,384 bytes")
	faultFrameSize    = protocolFault(CodeFrameSize, "a frame has a length that its type cannot have")
	faultStreamZero   = protocolFault(CodeProtocol, "a frame of streams came on stream 0")
	faultStreamNot    = protocolFault(CodeProtocol, "a frame of the connection came on a stream")
	faultIdle         = protocolFault(CodeProtocol, "a frame came on a stream that was never opened")
	faultClosedStream = protocolFault(CodeStreamClosed, "a frame came on a stream after its end")
	faultPadding      = protocolFault(CodeProtocol, "a frame's padding is longer than the frame")
	faultInterleaved  = protocolFault(CodeProtocol, "another frame came inside a header block")
	faultContinuation = protocolFault(CodeProtocol, "CONTINUATION came outside a header block")
	faultPush         = protocolFault(CodeProtocol, "the server pushes although push is off")
	faultSettings     = protocolFault(CodeProtocol, "SETTINGS holds a value that is not allowed")
	faultGoawayGrew   = protocolFault(CodeProtocol, "a second GOAWAY names a later stream than the first")
	faultWindowZero   = protocolFault(CodeProtocol, "WINDOW_UPDATE of the connection by 0")
	faultWindowLarge  = flowFault("WINDOW_UPDATE raises the connection's window above 2^31-1")
	faultInitialLarge = flowFault("SETTINGS raises a window above 2^31-1")
	faultOverWindow   = flowFault("the server sent more data than the connection's window")
	faultFlood        = &fault{CodeEnhanceYourCalm, &http1.Error{Kind: http1.KindFlood, Detail: "10,000 frames in a row carried nothing"}}
	faultUnread       = &fault{CodeEnhanceYourCalm, &http1.Error{Kind: http1.KindFlood, Detail: "the server asks for answers and does not read them"}}
	faultBlockLarge   = &fault{CodeEnhanceYourCalm, &http1.Error{Kind: http1.KindTooLarge, Detail: "a header block exceeds 64 KiB"}}
)

// Faults of one stream: the other streams continue.
var (
	faultNoStatus     = protocolFault(CodeProtocol, "the response has no :status")
	faultInterimEnds  = protocolFault(CodeProtocol, "an interim (1xx) response ends the stream")
	faultInterim      = protocolFault(CodeEnhanceYourCalm, "more than 16 interim (1xx) responses")
	faultUpgrade      = protocolFault(CodeProtocol, "101 came over HTTP/2, which has no upgrade")
	faultSecondHead   = protocolFault(CodeProtocol, "a second head came that is no trailer")
	faultDataFirst    = protocolFault(CodeProtocol, "DATA came before the head")
	faultLengthOver   = protocolFault(CodeProtocol, "the body is longer than content-length")
	faultLengthUnder  = protocolFault(CodeProtocol, "the body is shorter than content-length")
	faultNoBody       = protocolFault(CodeProtocol, "a response that has no body (HEAD, 204, 304) came with one")
	faultStreamZeroUp = protocolFault(CodeProtocol, "WINDOW_UPDATE of a stream by 0")
	faultStreamLarge  = flowFault("WINDOW_UPDATE raises a stream's window above 2^31-1")
	faultStreamOver   = flowFault("the server sent more data than the stream's window")
	faultBodyLarge    = &fault{CodeCancel, &http1.Error{Kind: http1.KindTooLarge, Detail: "the body exceeds its limit"}}
)
