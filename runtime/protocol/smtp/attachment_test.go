package smtp_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/reply"
	"hyperscale/runtime/protocol/smtp"
)

// parsed returns a message as it goes out, and what stands between its parts.
func parsed(r *rapid.T, m smtp.Message, value string) (*mail.Message, string) {
	o, err := smtp.Compile(m)
	if err != nil {
		r.Fatal(err)
	}
	c := begun(r, smtp.Config{}, true)
	if err := c.Operate(o, smtp.Order{Values: [][]byte{[]byte(value)}}); err != nil {
		r.Fatal(err)
	}
	written(c)
	if err := c.Feed([]byte("250 a\r\n250 b\r\n354 c\r\n"), &counter{conn: c}); err != nil {
		r.Fatal(err)
	}
	raw, err := io.ReadAll(textproto.NewReader(bufio.NewReader(strings.NewReader(written(c)))).DotReader())
	if err != nil {
		r.Fatal(err)
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		r.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/mixed" {
		r.Fatal(kind, err)
	}
	return message, params["boundary"]
}

// Whatever is attached, with values and without: a reader of MIME finds the body and each attachment as they were
// given, under their names, and no further part.
func TestAttachmentsAreWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{".", "\r\n", "a", "é", "--", "--x--"}), 0, 8).Draw(r, name), "")
		}
		compile := func() (m smtp.Message, datas [][]byte, value string) {
			value = text("value")
			m = smtp.Message{From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y")}, Body: reply.Plain(text("body"))}
			if rapid.Bool().Draw(r, "open body") {
				m.Body = append(m.Body, reply.Part{Value: 0})
			}
			for range rapid.IntRange(1, 4).Draw(r, "attachments") {
				a := smtp.Attachment{Name: rapid.StringMatching(`[a-zé"\\ .]{1,20}`).Draw(r, "name")}
				var data []byte
				switch rapid.IntRange(0, 3).Draw(r, "kind") {
				case 3: // stands in no message
					data = bytes.Repeat(append(rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(r, "data"), 1), rapid.IntRange(1, 3000).Draw(r, "times"))
					a.Data = smtp.Encode(data)
				case 0:
					data = append(make([]byte, 0, 1), rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(r, "data")...)
					a.Data = smtp.Encode(data)
				case 1:
					data = []byte(text("text"))
					a.Text = reply.Plain(string(data))
				case 2:
					a.Text = append(reply.Plain("x"), reply.Part{Value: 0})
					data = []byte("x" + value)
				}
				m.Attachments, datas = append(m.Attachments, a), append(datas, data)
			}
			return m, datas, value
		}
		m, datas, value := compile()
		if rapid.Bool().Draw(r, "boundary in the body") {
			_, boundary := parsed(r, m, value)
			m.Body = append(reply.Plain("\r\n--"+boundary), m.Body...)
		}
		body := m.Body.Fill(nil, [][]byte{[]byte(value)})
		message, boundary := parsed(r, m, value)
		reader := multipart.NewReader(message.Body, boundary)
		for i := -1; ; i++ {
			part, err := reader.NextRawPart()
			if err == io.EOF {
				if i != len(datas) {
					r.Fatalf("%d attachments, want %d", i, len(datas))
				}
				return
			}
			if err != nil {
				r.Fatal(err)
			}
			var from io.Reader = part
			if part.Header.Get("Content-Transfer-Encoding") == "base64" {
				from = base64.NewDecoder(base64.StdEncoding, part)
			}
			got, err := io.ReadAll(from)
			if err != nil {
				r.Fatal(err)
			}
			want := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")) // as DotReader gives lines
			if i >= 0 {
				want = datas[i]
				if _, p, err := mime.ParseMediaType(part.Header.Get("Content-Disposition")); err != nil || p["filename"] != m.Attachments[i].Name {
					r.Fatalf("%q (%v), want the name %q", p["filename"], err, m.Attachments[i].Name)
				}
			} else if from != io.Reader(part) {
				want = body
			}
			if !bytes.Equal(got, want) {
				r.Fatalf("part %d: %q, want %q", i, got, want)
			}
		}
	})
}

// A file that many messages carry is base64 once: whatever else differs, a message allocates no copy of it, and one
// that is given up in its middle changes nothing for the next.
func TestMessagesShareAFile(t *testing.T) {
	file := smtp.Encode(bytes.Repeat([]byte("0123456789"), 100_000))
	message := func(subject string) (*smtp.Conn, func() string) {
		o, err := smtp.Compile(smtp.Message{
			From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y")}, Subject: reply.Plain(subject),
			Attachments: []smtp.Attachment{{Name: "a.bin", Data: file}, {Name: "b.bin", Data: file}},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := begun(t, smtp.Config{}, true)
		if err := c.Operate(o, smtp.Order{}); err != nil {
			t.Fatal(err)
		}
		written(c)
		if err := c.Feed([]byte("250 a\r\n250 b\r\n354 c\r\n"), &counter{conn: c}); err != nil {
			t.Fatal(err)
		}
		return c, func() string { return written(c) }
	}
	given, _ := message("x")
	for range 3 {
		given.Sent(len(given.Output()))
	}
	if before := given.Unsent(); before == 0 {
		t.Fatal("all is sent")
	}
	given.Leave(0, "")
	if given.Unsent() != 0 || len(given.Output()) != 0 {
		t.Fatalf("%d bytes go out behind the end", given.Unsent())
	}
	c, rest := message("y")
	size := c.Unsent()
	first := rest()
	if len(first) != size || c.Unsent() != 0 {
		t.Fatalf("%d bytes, want %d", len(first), size)
	}
	_, again := message("y")
	if again() != first {
		t.Fatal("the same message is other bytes")
	}
	const sends = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range sends {
		c, _ := message(strconv.Itoa(i))
		for len(c.Output()) > 0 {
			c.Sent(len(c.Output()))
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / sends; each > 100_000 {
		t.Fatalf("%d bytes for each message", each)
	}
}

// A value that has the boundary of its message does not end it: such a body goes out as base64.
func TestAValueEndsNoMessage(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := smtp.Message{From: reply.Plain("a@x"), To: []reply.Argument{reply.Plain("b@y")}, Body: append(reply.Plain("> "), reply.Part{Value: 0}),
			Attachments: []smtp.Attachment{{Name: "a.txt", Text: reply.Plain("kept")}}}
		_, boundary := parsed(r, m, "")
		value := "\r\n--" + boundary + rapid.SampledFrom([]string{"--\r\n", "\r\n", ""}).Draw(r, "end")
		message, _ := parsed(r, m, value)
		reader := multipart.NewReader(message.Body, boundary)
		for i, want := range []string{"> " + value, "kept"} {
			part, err := reader.NextRawPart()
			if err != nil {
				r.Fatalf("part %d: %v", i, err)
			}
			if got, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, part)); err != nil || string(got) != want {
				r.Fatalf("part %d: %q (%v), want %q", i, got, err, want)
			}
		}
		m.Headers = []smtp.Header{{Name: "Content-Transfer-Encoding", Value: reply.Plain("7bit")}}
		o, err := smtp.Compile(m)
		if err != nil {
			r.Fatal(err)
		}
		if err := begun(r, smtp.Config{}, true).Operate(o, smtp.Order{Values: [][]byte{[]byte(value)}}); err == nil {
			r.Fatal("a body goes out that ends its message")
		}
	})
}
