package ssh

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island"
	"hyperscale/runtime/redact"
)

const createFlags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errQuestions = &http1.Error{Kind: http1.KindAuth, Detail: "the server asks for more than a password"}
	errOver      = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over"}
	errExec      = &http1.Error{Kind: kindOf("EXEC"), Detail: "the server runs no command: SCP needs one"}
	errUnasked   = breach("the server sends more than %d bytes between two operations", island.StreamUnread)
	errNoStatus  = breach("scp ended without a status")
)

func errLarge(limit int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answer has more than %d bytes: raise max_body, or read nothing of it", limit)}
}

// kindOf is the kind of an error that the server told by a code.
func kindOf(code string) http1.Kind { return http1.Kind("server " + code) }

func toldKind(k http1.Kind) bool { return strings.HasPrefix(string(k), "server ") }

const nameMost = 80 // bytes of a name in an error

// clip is a text of the server as examples show it.
func clip(s string) string {
	return redact.Excerpt(s, nameMost)
}

// said is an error's text of the server, in one line.
func said(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, redact.Excerpt(text, redact.TextMost))
	return strings.TrimSpace(strings.ToValidUTF8(text, "?"))
}

// refused is an error that scp told.
func refused(text string) *http1.Error {
	return &http1.Error{Kind: kindOf("SCP"), Detail: "the server said: " + said(strings.TrimPrefix(text, "scp: "))}
}

// exited is the end of scp with a status.
func exited(status int, text []byte) *http1.Error {
	detail := "scp ended with status " + strconv.Itoa(status)
	if s := said(string(text)); s != "" {
		detail += ": " + s
	}
	return &http1.Error{Kind: kindOf("EXIT"), Detail: detail}
}

// statuses are the codes of SFTP version 3.
var statuses = [...]string{"OK", "EOF", "NO_SUCH_FILE", "PERMISSION_DENIED", "FAILURE", "BAD_MESSAGE", "", "", "OP_UNSUPPORTED"}

// statusOf is the error that a status of SFTP tells; nil: it is another error.
func statusOf(err error) *http1.Error {
	var status *sftp.StatusError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &http1.Error{Kind: kindOf("NO_SUCH_FILE"), Detail: "the server said: " + said(err.Error())}
	case errors.Is(err, os.ErrPermission):
		return &http1.Error{Kind: kindOf("PERMISSION_DENIED"), Detail: "the server said: " + said(err.Error())}
	case !errors.As(err, &status):
		return nil
	}
	code := "OTHER"
	if int(status.Code) < len(statuses) {
		if code = statuses[status.Code]; code == "" {
			return nil // the library's own: the connection is lost
		}
	}
	return &http1.Error{Kind: kindOf(code), Detail: "the server said: " + said(status.Error())}
}

// refusedChannel is a channel that the server does not open.
func refusedChannel(e *gossh.OpenChannelError) *http1.Error {
	code := "CHANNEL"
	switch e.Reason {
	case gossh.Prohibited:
		code = "PROHIBITED"
	case gossh.ConnectionFailed:
		code = "CONNECT_FAILED"
	case gossh.UnknownChannelType:
		code = "UNKNOWN_CHANNEL"
	case gossh.ResourceShortage:
		code = "RESOURCE_SHORTAGE"
	}
	return &http1.Error{Kind: kindOf(code), Detail: "the server refuses the channel: " + said(e.Message)}
}

// known is what an error means whatever the connection; nil: that depends on how it ended.
func known(err error) error {
	var known *http1.Error
	var host *hostError
	var refusal *gossh.OpenChannelError
	text := textOf(err)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &host):
		return &http1.Error{Kind: http1.KindAuth, Detail: host.text}
	case errors.As(err, &refusal):
		return refusedChannel(refusal)
	case strings.Contains(text, "unable to authenticate"):
		return &http1.Error{Kind: http1.KindAuth, Detail: "the server refuses the user, the key or the password: " + said(text)}
	case strings.Contains(text, "disconnect, reason"):
		return &http1.Error{Kind: kindOf("DISCONNECT"), Detail: "the server said: " + said(text)}
	case strings.Contains(text, "subsystem request failed"):
		return &http1.Error{Kind: kindOf("SUBSYSTEM"), Detail: "the server has no subsystem sftp"}
	}
	return nil
}

func textOf(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "ssh: handshake failed: "), "ssh: ")
}

// meaning is what an error means on a connection that the peer has not ended.
func meaning(err error) error {
	if told := known(err); told != nil {
		return told
	}
	return breach("what the server says breaks the rules: %s", said(textOf(err)))
}

// explain says what an error means that ends the connection.
func (l *link) explain(err error) error {
	if told := known(err); told != nil {
		return told
	}
	end := l.stream.Ended()
	if end == nil {
		return meaning(err)
	}
	open, _ := l.state()
	switch {
	case !errors.Is(end, io.EOF):
		return fmt.Errorf("read from the server: %w", end)
	case open:
		return &http1.Error{Kind: http1.KindTruncated, Detail: "the server closed the connection in the middle of the operation"}
	}
	return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before the user was authenticated"}
}
