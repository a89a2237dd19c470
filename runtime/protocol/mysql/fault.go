package mysql

import (
	"encoding/binary"
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
	errEarly   = breach("the server answered before all of the command was sent")
	errUnasked = breach("the server sent an answer that no statement asked for")
	errColumns = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a row has more than %d columns", columnsMost)}
	errRow     = breach("the values of a row do not fill it")
	errTable   = breach("the description of a column is not whole")
	errFlood   = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d results in a row have no row", resultsMost)}
	errSilent  = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errCut     = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver    = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over or busy: nothing more can be sent"}
	errSend    = &http1.Error{Kind: http1.KindOther, Detail: "a statement is an operation: write vu.sql.query"}
	errFile    = breach("the server asks for a file of this machine (LOCAL INFILE), and gets none: use LOAD DATA INFILE, which reads a file of the server")
)

func errLarge(most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answer of an operation exceeds %d bytes: raise max_body", most)}
}

// The numbers of errors that mean something to the codec.
const (
	errorDeadlock         = 1213 // the transaction is rolled back
	errorUnknownStatement = 1243
	errorTooMany          = 1040
	errorPreparedMost     = 1461
	errorNotPrepared      = 1295
)

// told is an error that the server told.
type told struct {
	number  int
	state   string // SQLSTATE; empty: it told none
	message string
}

// readError reads an error packet, without secrets.
func readError(b []byte, secrets ...string) (t told, wrong *http1.Error) {
	if len(b) < 3 {
		return t, breach("an error of the server is not whole")
	}
	t.number = int(binary.LittleEndian.Uint16(b[1:]))
	if b = b[3:]; len(b) >= 6 && b[0] == '#' {
		t.state, b = string(b[1:6]), b[6:]
	}
	t.message = strings.ToValidUTF8(redact.Excerpt(string(b), redact.TextMost, secrets...), "\uFFFD")
	return t, nil
}

// fatal reports whether the server ends the connection with the error.
func (t *told) fatal() bool {
	switch t.number {
	case 1053, // shutdown
		1153, 1156, 1157, 1158, 1159, 1160, 1161, // packets too large or lost
		1927, 3169, // killed
		4031: // idle for too long
		return true
	}
	return false
}

// fault makes an error of it.
func (t *told) fault() *http1.Error {
	detail := t.message
	if remedy := remedies[t.number]; remedy != "" {
		detail += ": " + remedy
	}
	return &http1.Error{Kind: http1.Kind("server " + strconv.Itoa(t.number)), Detail: detail}
}

// remedies tell what helps against an error that a test's author can mend.
var remedies = map[int]string{
	errorTooMany:          "each virtual user has a connection of its own: raise max_connections of the server, or lower vus",
	errorNotPrepared:      `the server cannot prepare the statement: write statements = "simple" in sql.client`,
	errorPreparedMost:     `each connection prepares its statements: raise max_prepared_stmt_count of the server, or write statements = "simple" in sql.client`,
	errorUnknownStatement: `a proxy between may give each statement another connection: write statements = "unnamed" in sql.client`,
	1153:                  "raise max_allowed_packet of the server",
}
