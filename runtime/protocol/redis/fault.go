package redis

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
	errLineEnd  = breach("a line of the server does not end with CR LF")
	errBulkEnd  = breach("a text of the server does not end with CR LF where its length says")
	errUnasked  = breach("the server sent an answer that no command asked for")
	errRepeats  = breach("what the server answers to the greeting is no answer of Redis, and repeats the password")
	errNoEnd    = breach("the server ends an aggregate that has a length, or that it did not begin")
	errChunk    = breach("the server sent a chunk of a text outside of one")
	errNoChunk  = breach("the server interrupts a text that comes in chunks")
	errHalfPair = breach("the server ends a map behind a key")
	errVerbatim = breach("a verbatim text of the server has no format of three letters and a colon")
	errDeep     = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("an answer nests more than %d deep", depthMost)}
	errLine     = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a line of the server exceeds %d bytes", lineMost)}
	errFlood    = &http1.Error{Kind: http1.KindFlood, Detail: fmt.Sprintf("%d pushes and attributes in a row answered nothing", idleMost)}
	errSilent   = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	errCut      = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver     = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errCommands = &http1.Error{Kind: http1.KindValue, Detail: "what is sent must be whole commands: an array of texts each"}
)

func errLarge(most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answers of an operation exceed %d bytes: raise max_body", most)}
}

const codeMost = 32 // letters of an error's code

// codeOf returns the code of an error's text; empty: it has none.
func codeOf(text string) string {
	code, _, _ := strings.Cut(text, " ")
	if code == "" || len(code) > codeMost {
		return ""
	}
	for i := range len(code) {
		if c := code[i]; (c < 'A' || c > 'Z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return ""
		}
	}
	return code
}

// CodeOther is the code of an error that names none.
const CodeOther = "other"

// serverError is an error that the server answered, without the secret. Prefix says which command it answers.
func serverError(prefix, text, secret string) *http1.Error {
	text = redact.Excerpt(text, redact.TextMost, secret)
	code := codeOf(text)
	if code == "" {
		code = CodeOther
	}
	detail := prefix + text
	if remedy := remedies[code]; remedy != "" {
		detail = strings.TrimSuffix(detail, ".") + ": " + remedy
	}
	return &http1.Error{Kind: http1.Kind("server " + code), Detail: detail}
}

// ServerError is the error for what the server told, of the kind "server CODE". Prefix says what it
// answers; empty: nothing.
func ServerError(prefix, text string) *http1.Error {
	return serverError(prefix, text, "")
}

// ClusterRemedy helps against what a node of a cluster says of keys that another one has.
const ClusterRemedy = "the server is a node of a cluster: write cluster = True in redis.client"

// remedies tell what helps against an error that a test's author can mend.
var remedies = map[string]string{
	"MOVED":  ClusterRemedy,
	"ASK":    ClusterRemedy,
	"NOAUTH": "give user and password to redis.client",
}

// refused is the error of an operation that cannot begin, as the greeting has failed.
func refused(kind http1.Kind, detail string) *http1.Error {
	says := func(text string) bool { return strings.Contains(detail, text) }
	switch {
	case kind == "server WRONGPASS", kind == "server NOAUTH", kind == "server NOPERM", says("without any password"), says("invalid password"):
		kind = http1.KindAuth
	case kind == "server NOPROTO", says("unknown command"):
		detail += ": servers before Redis 6 need protocol = 2"
	}
	return &http1.Error{Kind: kind, Detail: detail}
}
