package postgres

import (
	"bytes"
	"fmt"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errEarly    = breach("the server answered before all of the statement was sent")
	errUnasked  = breach("the server sent an answer that no statement asked for")
	errColumns  = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a row has more than %d columns", columnsMost)}
	errRow      = breach("the values of a row do not fill it")
	errTable    = breach("the description of a row is not whole")
	errFlood    = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d notices in a row answered nothing", idleMost)}
	errAside    = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message that answers nothing exceeds %d bytes", asideMost)}
	errSilent   = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errCut      = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver     = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errNUL      = &http1.Error{Kind: http1.KindValue, Detail: "a value has a NUL in it, and no text of PostgreSQL has one"}
	errCopy     = &http1.Error{Kind: http1.KindOther, Detail: "the statement copies (COPY from stdin or to stdout), and sql.query cannot: write sql.copy"}
	errOtherWay = &http1.Error{Kind: http1.KindOther, Detail: "the statement copies the other way: give sql.copy data if it copies from stdin, and none if it copies to stdout"}
)

func errLarge(most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answer of an operation exceeds %d bytes: raise max_body", most)}
}

func errOrder(kind byte) *http1.Error {
	return breach("the server sent %s where the protocol has none", messageName(kind))
}

// CodeOther is the code of an error that names none.
const CodeOther = "other"

// told is an error that the server told.
type told struct {
	severity, code, message, detail string
}

// readError reads the fields of an error, without secrets.
func readError(b []byte, secrets ...string) (t told, wrong *http1.Error) {
	for len(b) > 1 {
		field := b[0]
		value, rest, whole := bytes.Cut(b[1:], []byte{0})
		if !whole {
			return t, breach("a field of an error has no end")
		}
		text := redact.Excerpt(string(value), redact.TextMost, secrets...)
		switch b = rest; field {
		case 'V':
			t.severity = text
		case 'S':
			if t.severity == "" {
				t.severity = text
			}
		case 'C':
			t.code = text
		case 'M':
			t.message = text
		case 'D':
			t.detail = text
		}
	}
	if len(b) != 1 || b[0] != 0 {
		return t, breach("an error of the server has no end")
	}
	if !isCode(t.code) {
		t.code = CodeOther
	}
	return t, nil
}

func isCode(code string) bool {
	return len(code) == 5 && !strings.ContainsFunc(code, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') })
}

// fatal reports whether the server ends the connection with the error.
func (t *told) fatal() bool { return t.severity == "FATAL" || t.severity == "PANIC" }

// fault makes an error of it. Prefix says which statement it answers.
func (t *told) fault(prefix string) *http1.Error {
	message := t.message
	if message == "" {
		message = "the server tells an error without a text"
	}
	detail := strings.ToValidUTF8(prefix+message, "\uFFFD")
	if t.detail != "" {
		detail += " (" + strings.ToValidUTF8(t.detail, "\uFFFD") + ")"
	}
	if remedy := remedies[t.code]; remedy != "" {
		detail += ": " + remedy
	}
	return &http1.Error{Kind: http1.Kind("server " + t.code), Detail: detail}
}

const behindPooler = `a pooler between may give each transaction another connection: write statements = "unnamed" in sql.client`

// remedies tell what helps against an error that a test's author can mend.
var remedies = map[string]string{
	"26000": behindPooler,
	"42P05": behindPooler,
	"53300": "each virtual user has a connection of its own: raise max_connections of the server, or lower vus",
}
