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
				switch rapid.IntRange(0, 2).Draw(r, "kind") {
				case 0:
					data = append(make([]byte, 0, 1), rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(r, "data")...)
					a.Data = data
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
