package ftp_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
	"hyperscale/runtime/protocol/reply/replytest"
)

// Stories say what an operation does: get, put, list, names, delete, rename or mkdir with its words, escaped as
// in Go; what becomes of the data connection: branch, stands, secured, data, written, eof, cut, refused; and
// leave, ping.
//
//	talk [tls] [limit=N] [end=eof|reset]
//	greet [tls] [implicit] [user=NAME] [password=WORD] [end=eof|reset]
func TestStories(t *testing.T) {
	replytest.Stories(t, func(t *testing.T, d *datadriven.TestData) (replytest.Begun, error) {
		var c ftp.Config
		opening := "220 hi\r\n230 in\r\n200 binary\r\n"
		for _, a := range d.CmdArgs {
			value := strings.Join(a.Vals, ",")
			switch a.Key {
			case "tls":
				c.Explicit = true
			case "implicit":
				c.Secure = true
				opening = "220 hi\r\n230 in\r\n200 buffer\r\n200 protected\r\n200 binary\r\n"
			case "limit":
				c.KeepMax, _ = strconv.ParseInt(value, 10, 64)
			case "user":
				c.User = value
			case "password":
				c.Password = value
			case "end":
			default:
				d.Fatalf(t, "no argument is called %q", a.Key)
			}
		}
		p, err := ftp.New(c)
		if err != nil {
			return replytest.Begun{}, err
		}
		return replytest.Begun{Greeting: p.Greet(), Opening: opening, Do: do, Heard: heard, Ends: ends}, nil
	})
}

func unquoted(text string) string {
	out, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		panic(err)
	}
	return out
}

// argument is a text, or the value v0 for $0.
func argument(text string) reply.Argument {
	if text == "$0" {
		return reply.Argument{{Value: 0}}
	}
	return reply.Plain(unquoted(text))
}

func operation(words []string) *ftp.Operation {
	first := argument(words[1])
	switch words[0] {
	case "get":
		return ftp.Get(first)
	case "put":
		return ftp.Put(first, argument(words[2]))
	case "list", "names":
		return ftp.List(first, words[0] == "names")
	case "delete":
		return ftp.Delete(first)
	case "rename":
		return ftp.Rename(first, argument(words[2]))
	case "mkdir":
		return ftp.Mkdir(first)
	}
	return nil
}

func do(h *replytest.Heard, text string) {
	words := append(strings.Fields(text), "", "")
	conn := h.Conn.(*ftp.Conn)
	fails := func(err error) {
		if err != nil {
			h.Say("%s", replytest.Short(err.Error()))
		}
	}
	switch words[0] {
	case "leave":
		conn.Leave(1000, "")
		h.Say("lingers %v", conn.Lingers())
	case "ping":
		conn.Ping(7)
	case "branch":
		h.Say("%+v", conn.Branch())
	case "stands":
		conn.Branched(false)
	case "secured":
		conn.Branched(true)
	case "data":
		for b := []byte(unquoted(words[1])); len(b) > 0; {
			n := min(h.Cut, len(b))
			if err := conn.BranchFeed(b[:n], h); err != nil {
				fails(err)
				break
			}
			b = b[n:]
		}
	case "written":
		h.Say("=> %q", conn.BranchOutput())
		for len(conn.BranchOutput()) > 0 {
			conn.BranchSent(min(h.Cut, len(conn.BranchOutput())))
		}
	case "eof":
		fails(conn.BranchEnds(io.EOF, h))
	case "cut":
		fails(conn.BranchEnds(&http1.Error{Kind: http1.KindTruncated, Detail: "no close_notify"}, h))
	case "refused":
		fails(conn.BranchEnds(errors.New("refused"), h))
	default:
		o := operation(words)
		if o == nil {
			panic(text)
		}
		fails(conn.Operate(o, ftp.Order{Values: [][]byte{[]byte("v0\r\nDELE x")}, Keeps: words[2] != "unread"}))
	}
}

func heard(h *replytest.Heard, b []byte) {
	o := h.Conn.(*ftp.Conn).Outcome()
	fmt.Fprintf(h, "message %d, %d bytes: %q", o.Code, o.Bytes, b)
	h.Wrong(o.Err)
	h.WriteByte('\n')
}

func ends(h *replytest.Heard) {
	conn := h.Conn.(*ftp.Conn)
	if conn.Owes() {
		h.Say("owes")
	}
	if conn.Learnt() {
		h.Say("learnt")
	}
}
