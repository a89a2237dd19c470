package http3

import (
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// Code is an error code of HTTP/3: of a stream that is reset, or of a connection that is closed.
type Code uint64

// The codes of RFC 9114, 8.1, and of RFC 9204, 6.
const (
	CodeNone              Code = 0x100
	CodeProtocol          Code = 0x101
	CodeInternal          Code = 0x102
	CodeStreamCreation    Code = 0x103
	CodeClosedCritical    Code = 0x104
	CodeFrameUnexpected   Code = 0x105
	CodeFrame             Code = 0x106
	CodeExcessiveLoad     Code = 0x107
	CodeID                Code = 0x108
	CodeSettings          Code = 0x109
	CodeMissingSettings   Code = 0x10a
	CodeRequestRejected   Code = 0x10b
	CodeRequestCancelled  Code = 0x10c
	CodeRequestIncomplete Code = 0x10d
	CodeMessage           Code = 0x10e
	CodeConnect           Code = 0x10f
	CodeVersionFallback   Code = 0x110
	CodeDecompression     Code = 0x200
	CodeEncoderStream     Code = 0x201
	CodeDecoderStream     Code = 0x202
)

var codeNames = [...]string{
	"H3_NO_ERROR", "H3_GENERAL_PROTOCOL_ERROR", "H3_INTERNAL_ERROR", "H3_STREAM_CREATION_ERROR", "H3_CLOSED_CRITICAL_STREAM",
	"H3_FRAME_UNEXPECTED", "H3_FRAME_ERROR", "H3_EXCESSIVE_LOAD", "H3_ID_ERROR", "H3_SETTINGS_ERROR", "H3_MISSING_SETTINGS",
	"H3_REQUEST_REJECTED", "H3_REQUEST_CANCELLED", "H3_REQUEST_INCOMPLETE", "H3_MESSAGE_ERROR", "H3_CONNECT_ERROR", "H3_VERSION_FALLBACK",
}

var qpackNames = [...]string{"QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"}

func (c Code) String() string {
	switch {
	case c >= CodeNone && c <= CodeVersionFallback:
		return codeNames[c-CodeNone]
	case c >= CodeDecompression && c <= CodeDecoderStream:
		return qpackNames[c-CodeDecompression]
	}
	return "code 0x" + strconv.FormatUint(uint64(c), 16)
}

// fault is a peer's error: the code to send, and the error in results.
type fault struct {
	code Code
	err  *http1.Error
}

func breach(code Code, detail string) *fault {
	return &fault{code, &http1.Error{Kind: http1.KindProtocol, Detail: detail}}
}

// Faults of the connection: every stream fails with them.
var (
	faultUnexpected  = breach(CodeFrameUnexpected, "a frame came where HTTP/3 does not allow its type")
	faultFrame       = breach(CodeFrame, "a frame is cut, or its payload does not fit its type")
	faultPush        = breach(CodeID, "the server pushes although it may not")
	faultMissing     = breach(CodeMissingSettings, "the first frame of the control stream is not SETTINGS")
	faultSettings    = breach(CodeSettings, "SETTINGS holds a setting of HTTP/2, or one twice")
	faultCritical    = breach(CodeClosedCritical, "the server closed its control stream or one of QPACK")
	faultSecond      = breach(CodeStreamCreation, "the server opened a second control stream, or a second one of QPACK")
	faultGoaway      = breach(CodeID, "GOAWAY names a stream that is no request, or a later one than before")
	faultLong        = breach(CodeExcessiveLoad, "a frame of the control stream is longer than 16 KiB")
	faultEncoder     = &fault{CodeEncoderStream, &http1.Error{Kind: http1.KindCompression, Detail: "the server fills a dynamic table of QPACK, which has no room"}}
	faultDecoder     = &fault{CodeDecoderStream, &http1.Error{Kind: http1.KindCompression, Detail: "the server acknowledges what no request has put into a dynamic table"}}
	faultFlood       = &fault{CodeExcessiveLoad, &http1.Error{Kind: http1.KindFlood, Detail: "10,000 frames in a row carried nothing"}}
	faultBlockLarge  = &fault{CodeExcessiveLoad, &http1.Error{Kind: http1.KindTooLarge, Detail: "a header block exceeds 64 KiB"}}
	faultServerFirst = breach(CodeStreamCreation, "the server opened a stream of its own for a request")
)

// Faults of one stream: the other streams continue.
var (
	faultNoStatus    = breach(CodeMessage, "the response has no :status")
	faultInterimEnds = breach(CodeMessage, "an interim (1xx) response ends the stream")
	faultInterim     = breach(CodeExcessiveLoad, "more than 16 interim (1xx) responses")
	faultUpgrade     = breach(CodeMessage, "101 came over HTTP/3, which has no upgrade")
	faultDataFirst   = breach(CodeFrameUnexpected, "DATA came before the head")
	faultAfter       = breach(CodeFrameUnexpected, "a frame came behind the trailers")
	faultLengthOver  = breach(CodeMessage, "the body is longer than content-length")
	faultLengthUnder = breach(CodeMessage, "the body is shorter than content-length")
	faultNoBody      = breach(CodeMessage, "a response that has no body (HEAD, 204, 304) came with one")
	faultBodyLarge   = &fault{CodeRequestCancelled, &http1.Error{Kind: http1.KindTooLarge, Detail: "the body exceeds its limit"}}
)

// Errors of header blocks: the connection ends.
var (
	errDynamic = &http1.Error{Kind: http1.KindCompression, Detail: "a header block refers to a dynamic table of QPACK, which has no room"}
	errIndex   = &http1.Error{Kind: http1.KindCompression, Detail: "a header block refers to a table entry that does not exist"}
	errCut     = &http1.Error{Kind: http1.KindCompression, Detail: "a header block ends in the middle of a header"}
	errHuffman = &http1.Error{Kind: http1.KindCompression, Detail: "a header block has invalid Huffman code"}
)

var (
	errRejected  = &http1.Error{Kind: http1.KindRefusedStream, Detail: "the server rejected the request before it processed it (H3_REQUEST_REJECTED)"}
	errGone      = &http1.Error{Kind: http1.KindGoaway, Detail: "the server ended the connection before it processed the request (GOAWAY)"}
	errClosed    = &http1.Error{Kind: http1.KindClosed, Detail: "the connection was closed before the response began"}
	errTruncated = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of the response"}
)

// resetBy is the error of a stream that the server reset.
func resetBy(code Code) *http1.Error {
	if code == CodeRequestRejected {
		return errRejected
	}
	return &http1.Error{Kind: http1.KindStreamReset, Detail: "the server reset the stream with " + code.String()}
}

// ClosedBy is the error of a connection that the server closed with a code.
func ClosedBy(code uint64, reason string) error {
	if Code(code) == CodeNone {
		return nil
	}
	detail := "the server closed the connection with " + Code(code).String()
	if reason != "" {
		detail += ": " + strings.ToValidUTF8(redact.Excerpt(reason, redact.TextMost), "?")
	}
	return &http1.Error{Kind: http1.KindClosed, Detail: detail}
}

// of3 is an error of a field in the words of HTTP/3.
func of3(err *http1.Error) *http1.Error {
	if !strings.Contains(err.Detail, "HTTP/2") {
		return err
	}
	return &http1.Error{Kind: err.Kind, Detail: strings.ReplaceAll(err.Detail, "HTTP/2", "HTTP/3")}
}
