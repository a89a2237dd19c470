package reply

import (
	"fmt"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

var errLong = &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a reply of the server exceeds %d KiB", Most>>10)}

func errNoCode(line []byte, secrets []string) error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("a reply of the server begins with %q, and not with a code of three digits", Clip(line, secrets...))}
}

func errChanges(from, to int) error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("a reply of the server begins with the code %d, and goes on with %d", from, to)}
}

// Clip returns a server's text as an error shows it: bounded, without secrets and without what breaks a line.
func Clip(b []byte, secrets ...string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, redact.Excerpt(string(b), redact.TextMost, secrets...)))
}

// Shown returns the text of the first line as an error shows it: Clip of it, without the reader's secrets.
func (r *Reply) Shown() string { return Clip(r.Text(), r.secrets...) }

// Refused is the error that a server's reply tells, of the kind "server CODE". Asked is the command that it
// answers, without arguments.
func (r *Reply) Refused(asked string) *http1.Error {
	return &http1.Error{Kind: http1.Kind(fmt.Sprintf("server %d", r.Code)), Detail: fmt.Sprintf("%s: %d %s", asked, r.Code, r.Shown())}
}

// Unexpected is the error of a reply that no command allows.
func (r *Reply) Unexpected(asked string) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("%s: the server replies %d, which this command does not have: %s", asked, r.Code, r.Shown())}
}

// Errors of connections on which replies are read.
var (
	ErrUnasked = &http1.Error{Kind: http1.KindProtocol, Detail: "the server sent a reply that no command asked for"}
	ErrSilent  = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}
	ErrCut     = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of a reply"}
	ErrOver    = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	ErrSends   = &http1.Error{Kind: http1.KindValue, Detail: "only operations are sent here"}
)
