package grpc

import (
	"strconv"
	"strings"

	"hyperscale/runtime/redact"
)

// Code is a status of gRPC.
type Code uint32

// The statuses that we refer to.
const (
	OK               Code = 0
	Unknown          Code = 2
	PermissionDenied Code = 7
	Unimplemented    Code = 12
	Internal         Code = 13
	Unavailable      Code = 14
	Unauthenticated  Code = 16
)

var names = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED",
}

// String returns the status's name. Those that gRPC does not know are UNKNOWN, as the document says.
func (c Code) String() string {
	if int64(c) < int64(len(names)) {
		return names[c]
	}
	return names[Unknown]
}

// parseCode reads grpc-status; false: it is no number.
func parseCode(text []byte) (Code, bool) {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || len(text) > 10 || text[0] == '+' {
		return 0, false
	}
	return Code(n), true
}

// FromHTTP is the status of an answer that has only HTTP's.
func FromHTTP(status int) Code {
	switch status {
	case 400:
		return Internal
	case 401:
		return Unauthenticated
	case 403:
		return PermissionDenied
	case 404:
		return Unimplemented
	case 429, 502, 503, 504:
		return Unavailable
	}
	return Unknown
}

// messageMost bounds the text of a status that is shown, in bytes.
const messageMost = 1000

// message decodes grpc-message: percent-encoded UTF-8. What is wrongly encoded stays as it is.
func message(text []byte) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(string(text[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ToValidUTF8(redact.Excerpt(string(out), messageMost), "\uFFFD")
}
