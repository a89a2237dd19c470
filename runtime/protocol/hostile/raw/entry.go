package raw

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour.
type Entry struct {
	Name    string
	Receive string // the end of the answer, as a workflow has it
	Rest    int    // bytes of the question behind its line
	Kind    http1.Kind
	Short   bool   // the exchange has a timeout that is short
	Body    string // of a good answer
	Races   bool   // the second exchange may find the connection as it closes

	answer func(c *net.TCPConn, question string) (stays bool)
	frame  func(text string) string // of a good answer
}

const lineEnd = "tcp.line()"

// Good is the second exchange's answer.
func (e *Entry) Good() string {
	if e.frame != nil {
		return e.frame("two")
	}
	return "two\n"
}

func says(text string) func(*net.TCPConn, string) bool {
	return func(c *net.TCPConn, _ string) bool {
		_, _ = io.WriteString(c, text)
		return true
	}
}

// parts says bytes in pieces, each in a packet of its own.
func parts(each time.Duration, texts ...string) func(*net.TCPConn, string) bool {
	return func(c *net.TCPConn, _ string) bool {
		for _, text := range texts {
			if _, err := io.WriteString(c, text); err != nil {
				return false
			}
			time.Sleep(each)
		}
		return true
	}
}

// then ends a connection behind what was said.
func then(first func(*net.TCPConn, string) bool, end func(*net.TCPConn)) func(*net.TCPConn, string) bool {
	return func(c *net.TCPConn, question string) bool {
		first(c, question)
		end(c)
		return false
	}
}

func closes(c *net.TCPConn) { _ = c.CloseWrite() }
func resets(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }

// waits reads until the client has closed.
func waits(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }

// sleeps reads nothing for longer than the short timeout.
func sleeps(*net.TCPConn) { time.Sleep(time.Second) }

// floods says a text until the client has closed.
func floods(text string) func(*net.TCPConn, string) bool {
	return func(c *net.TCPConn, _ string) bool {
		for {
			if _, err := io.WriteString(c, text); err != nil {
				return false
			}
		}
	}
}

func urgent(c *net.TCPConn, _ string) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Write(func(fd uintptr) bool {
		_ = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil)
		return true
	})
	return says("one\n")(c, "")
}

func counted(size int, n uint64, text string) string {
	b := binary.BigEndian.AppendUint64(nil, n)
	return string(b[8-size:]) + text
}

func prefixed(size int) func(string) string {
	return func(text string) string { return counted(size, uint64(len(text)), text) }
}

func ended(by string) func(string) string { return func(text string) string { return text + by } }

const (
	unreadSize = 15 << 20 // more than the kernel takes from a client whose server reads nothing
)

// Catalogue lists the behaviours.
func Catalogue() []Entry {
	nothing := func(*net.TCPConn, string) bool { return true }
	single := strings.Split("one\r\n", "")
	return []Entry{
		{Name: "says nothing", Receive: lineEnd, Kind: http1.KindTimeout, Short: true, answer: nothing},
		{Name: "answers behind the deadline", Receive: lineEnd, Kind: http1.KindTimeout, Short: true, answer: then(nothing, func(c *net.TCPConn) { waits(c); _, _ = io.WriteString(c, "one\n") })},
		{Name: "a byte each 100 ms", Receive: lineEnd, Kind: http1.KindTimeout, Short: true, answer: parts(100*time.Millisecond, strings.Split("0123456789", "")...)},
		{Name: "takes no bytes", Receive: lineEnd, Rest: unreadSize, Kind: http1.KindWriteTimeout, Short: true, answer: then(nothing, sleeps)},
		{Name: "closes", Receive: lineEnd, Kind: http1.KindClosed, answer: then(nothing, closes)},
		{Name: "closes in a line", Receive: lineEnd, Kind: http1.KindTruncated, answer: then(says("on"), closes)},
		{Name: "resets", Receive: lineEnd, Kind: http1.KindReset, answer: then(nothing, resets)},
		{Name: "closes behind its answer", Receive: lineEnd, Body: "one", Races: true, answer: then(says("one\n"), closes)},
		{Name: "two answers", Receive: lineEnd, Body: "one", answer: says("one\nlate\n")},
		{Name: "an answer and a part of one", Receive: lineEnd, Body: "one", answer: says("one\nla")},
		{Name: "empty lines without end", Receive: lineEnd, answer: floods("\n\n\n\n\n\n\n\n")},
		{Name: "a line without end", Receive: lineEnd, Kind: http1.KindTooLarge, answer: floods(strings.Repeat("x", 1000))},
		{Name: "HTTP", Receive: lineEnd, Body: "HTTP/1.1 400 Bad Request\r", answer: then(says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), closes)},
		{Name: "an alert of TLS", Receive: lineEnd, Kind: http1.KindTruncated, answer: then(says("\x15\x03\x01\x00\x02\x02\x28"), closes)},
		{Name: "NUL and bytes that are no text", Receive: lineEnd, Body: "\x00\xff\xfeone", answer: says("\x00\xff\xfeone\n")},
		{Name: "urgent data", Receive: lineEnd, Body: "one", answer: urgent},
		{Name: "single bytes", Receive: `tcp.until("\r\n")`, Body: "one", frame: ended("\r\n"), answer: parts(time.Millisecond, single...)},
		{Name: "half of the end again and again", Receive: `tcp.until("\r\n")`, Body: "a\r\ra", frame: ended("\r\n"), answer: parts(time.Millisecond, "a\r", "\ra\r", "\n")},
		{Name: "answers before it has the question", Receive: lineEnd, Rest: unreadSize, Body: "one", answer: then(says("one\n"), sleeps)},
		{Name: "a byte less", Receive: "tcp.bytes(3)", Kind: http1.KindTruncated, frame: ended(""), answer: then(says("on"), closes)},
		{Name: "a byte more", Receive: "tcp.bytes(3)", Body: "one", frame: ended(""), answer: says("one!")},
		{Name: "a length of 2^31-1", Receive: "tcp.prefixed(4)", Kind: http1.KindTooLarge, frame: prefixed(4), answer: says(counted(4, 1<<31-1, "one"))},
		{Name: "a length of 2^64-1", Receive: "tcp.prefixed(8)", Kind: http1.KindTooLarge, frame: prefixed(8), answer: says(counted(8, 1<<64-1, "one"))},
		{Name: "a length that no bytes follow", Receive: "tcp.prefixed(2)", Kind: http1.KindTimeout, Short: true, frame: prefixed(2), answer: says(counted(2, 1<<16-1, "one"))},
		{Name: "a length of 0", Receive: "tcp.prefixed(1)", frame: prefixed(1), answer: says("\x00")},
		{Name: "half a length", Receive: "tcp.prefixed(4)", Kind: http1.KindTruncated, frame: prefixed(4), answer: then(says("\x00\x00"), closes)},
		{Name: "never closes", Receive: "tcp.closed()", Kind: http1.KindTimeout, Short: true, answer: says("one\n")},
		{Name: "resets in an answer", Receive: "tcp.closed()", Kind: http1.KindReset, answer: then(parts(20*time.Millisecond, "one"), resets)},
		{Name: "does not end", Receive: "tcp.closed()", Kind: http1.KindTooLarge, answer: floods(strings.Repeat("x", 1000))},
		{Name: "closes without a byte", Receive: "tcp.closed()", answer: then(nothing, closes)},
	}
}
