package mongodb

import (
	"fmt"
	"strconv"
	"strings"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoServer   = breach("what the server says is not MongoDB's protocol: look at host and port")
	errOld        = breach("the server answers by OP_REPLY: it is older than MongoDB 3.6, and speaks no OP_MSG")
	errCompressed = breach("the server sent a compressed message, and no compression was agreed upon")
	errFrame      = breach("a message of the server has not the length of its document")
	errMore       = breach("the server says that more answers come, and one was asked for")
	errChecksum   = breach("the checksum of a message is wrong")
	errUnasked    = breach("the server sent an answer that no command asked for")
	errEarly      = breach("the server answered before all of the command was sent")
	errCursor     = breach("the answer to a query has no cursor with a batch of documents")
	errNoOk       = breach("an answer of the server does not say whether it is ok")
	errFlood      = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d batches in a row had no document", emptyMost)}
	errSilent     = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errCut        = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver       = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errBusy       = &http1.Error{Kind: http1.KindOther, Detail: "a command is under way, and a connection has one at a time"}
	errOperations = &http1.Error{Kind: http1.KindValue, Detail: "a connection of MongoDB sends commands, and no messages"}
)

func errLarge(most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answers of an operation exceed %d bytes: raise max_body, or ask for fewer documents", most)}
}

func errObject(size, most int) *http1.Error {
	return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("the command has %d bytes, and the server takes %d: send less at once", size, most)}
}

func refusal(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindAuth, Detail: fmt.Sprintf(format, values...)}
}

// CodeOther is the code of an error that names none.
const CodeOther = "other"

// told is an error that the server told.
type told struct {
	code int64
	name []byte
	text []byte
}

// read takes the fields of an error from a document.
func (t *told) read(e *bson.Element) {
	switch string(e.Name) {
	case "code":
		t.code, _ = e.Whole()
	case "codeName":
		t.name = e.Text()
	case "errmsg":
		t.text = e.Text()
	}
}

// codes of servers that are not the primary, or not any more.
func (t *told) moved() bool {
	switch t.code {
	case 10107, 13435, 13436, 11602, 10058, 189:
		return true
	}
	return false
}

// fault makes an error of it. What says where it was.
func (t *told) fault(what string) *http1.Error {
	code := CodeOther
	if t.code != 0 {
		code = strconv.FormatInt(t.code, 10)
	}
	detail := what
	if len(t.name) > 0 {
		detail += clip(t.name) + ": "
	}
	text := clip(t.text)
	if text == "" {
		text = "the server tells an error without a text"
	}
	detail += text
	if t.moved() {
		return &http1.Error{Kind: http1.KindMoved, Detail: detail + ": write the address of the set's primary"}
	}
	if remedy := remedies[t.code]; remedy != "" {
		detail += ": " + remedy
	}
	return &http1.Error{Kind: http1.Kind("server " + code), Detail: detail}
}

// remedies tell what helps against an error that a test's author can mend.
var remedies = map[int64]string{
	13: "give user, password and auth_source to mongodb.client",
}

// clip shortens what a server says, without secrets, and makes a text of it.
func clip(b []byte, secrets ...string) string {
	return strings.ToValidUTF8(redact.Excerpt(string(b), redact.TextMost, secrets...), "\uFFFD")
}
