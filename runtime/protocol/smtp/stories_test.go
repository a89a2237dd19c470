package smtp_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/runtime/protocol/reply"
	"hyperscale/runtime/protocol/reply/replytest"
	"hyperscale/runtime/protocol/smtp"
)

// Stories say what an operation does: "send FROM TO,TO [name=text ...]", where $0 stands for the value v0, and
// a text is escaped as in Go with _ for a blank, and attach=NAME:TEXT is an attachment; leave, ping.
//
//	talk [pipelines=no] [each=N] [end=eof|reset]
//	greet [starttls] [secure] [auth=MECHANISM] [hello=NAME] [end=eof|reset]
func TestStories(t *testing.T) {
	replytest.Stories(t, func(t *testing.T, d *datadriven.TestData) (replytest.Begun, error) {
		c := smtp.Config{User: "app", Secret: "se cret"}
		opening := "220 mail.test\r\n250-mail.test\r\n250 PIPELINING\r\n"
		for _, a := range d.CmdArgs {
			value := strings.Join(a.Vals, ",")
			switch a.Key {
			case "pipelines":
				opening = "220 mail.test\r\n250 mail.test\r\n"
			case "each":
				c.Each, _ = strconv.Atoi(value)
			case "starttls":
				c.StartTLS = true
			case "secure":
				c.Secure = true
			case "hello":
				c.Hello = value
			case "auth":
				for c.Mechanism.String() != value {
					c.Mechanism++
				}
			case "end":
			default:
				d.Fatalf(t, "no argument is called %q", a.Key)
			}
		}
		p, err := smtp.New(c)
		if err != nil {
			return replytest.Begun{}, err
		}
		return replytest.Begun{Greeting: p.Greet(), Opening: opening, Do: do, Heard: heard, Ends: ends}, nil
	})
}

// argument cuts a text where $0 stands.
func argument(text string) (a reply.Argument) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(text, "_", " "), `"`, `\"`) + `"`)
	if err != nil {
		panic(err)
	}
	for {
		before, rest, found := strings.Cut(text, "$0")
		if before != "" {
			a = append(a, reply.Part{Text: before, Value: -1})
		}
		if !found {
			return a
		}
		a, text = append(a, reply.Part{Value: 0}), rest
	}
}

func message(words []string) (m smtp.Message, value string) {
	m.From, value = argument(strings.Trim(words[0], "<>")), "v0"
	for _, to := range strings.Split(words[1], ",") {
		m.To = append(m.To, argument(to))
	}
	for _, w := range words[2:] {
		name, text, _ := strings.Cut(w, "=")
		switch name {
		case "subject":
			m.Subject = argument(text)
		case "body":
			m.Body = argument(text)
		case "attach":
			name, data, _ := strings.Cut(text, ":")
			m.Attachments = append(m.Attachments, smtp.Attachment{Name: name, Text: argument(data)})
		case "value":
			value, _ = strconv.Unquote(`"` + text + `"`)
		default:
			m.Headers = append(m.Headers, smtp.Header{Name: name, Value: argument(text)})
		}
	}
	return m, value
}

func do(h *replytest.Heard, text string) {
	words := strings.Fields(text)
	conn := h.Conn.(*smtp.Conn)
	switch words[0] {
	case "leave":
		conn.Leave(1000, "")
		h.Say("lingers %v", conn.Lingers())
	case "ping":
		conn.Ping(7)
	case "send":
		m, value := message(words[1:])
		o, err := smtp.Compile(m)
		if err != nil {
			h.Say("compile: %v", err)
			return
		}
		if err := conn.Operate(o, smtp.Order{Values: [][]byte{[]byte(value)}, Keeps: true, Date: []byte("now"), ID: []byte("1")}); err != nil {
			h.Say("%v", err)
		}
	default:
		panic(text)
	}
}

func heard(h *replytest.Heard, b []byte) {
	o := h.Conn.(*smtp.Conn).Outcome()
	fmt.Fprintf(h, "message %d, %d accepted, %d refused: %s", o.Code, o.Accepted, o.Refused, b)
	h.Wrong(o.Err)
	h.WriteByte('\n')
}

func ends(h *replytest.Heard) {
	conn := h.Conn.(*smtp.Conn)
	if conn.Owes() {
		h.Say("owes")
	}
	if conn.Learnt() {
		h.Say("learnt")
	}
}
