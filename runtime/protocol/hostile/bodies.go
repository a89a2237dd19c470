package hostile

import (
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/protocol/http1"
)

// bodies are long, slow or strangely coded bodies.
func bodies() []Entry {
	late, large := fails(http1.KindTimeout), fails(http1.KindTooLarge)
	block := many("x", 1<<16)
	squeezed := func(name, body string) Entry {
		return answers(name, ok+"Content-Encoding: gzip\r\n"+sized(body)[len(ok):], stay, reused(int64(len(body))))
	}
	return []Entry{
		answers("1 MiB", sized(many(block, 16)), stay, reused(1<<20)),
		answers("a stall inside the body", ok+"Content-Length: 9\r\n\r\nbody", hold, late),
		answers("a body byte by byte", "", drips(sized(many("x", 500)), 0, stay), reused(500)),
		answers("a body slower than the deadline", ok+"Content-Length: 1000\r\n\r\n", drips(many("x", 1000), 10*time.Millisecond, hold), late),
		flood("a body without an end", ok+"\r\n", block, late, &large),
		flood("chunks without an end", ok+coded, "10000\r\n"+block+"\r\n", late, &large),
		flood("small chunks without an end", ok+coded, many("1\r\nx\r\n", 10_000), late, nil),
		squeezed("gzip that nobody asked for", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xffKLL\x04\x00\xb0\x9b\x1e\x0e\x03\x00\x00\x00"),
		squeezed("gzip that is cut", "\x1f\x8b\x08\x00\x00"),
		squeezed("gzip that is none", "body"),
		answers("urgent data inside the body", ok+"Content-Length: 8\r\n\r\nbody", urgent, reused(8)),
	}
}

// urgent sends a byte out of band, then the rest.
func urgent(s *Session) bool {
	if !outOfBand(s) {
		return false
	}
	s.Say("body")
	return true
}

// outOfBand sends a byte that is no part of the stream. A read ends before it.
func outOfBand(s *Session) bool {
	raw, err := s.TCP.SyscallConn()
	if err != nil {
		return false
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = unix.Sendto(int(fd), []byte{'!'}, unix.MSG_OOB, nil) })
	return err == nil && sent == nil
}

// bodySent is more than the buffers of both sides hold together.
const bodySent = 6 << 20

// requests are behaviours of a server towards a request with a body.
func requests() []Entry {
	status := func(status int) Want { return Want{Kind: http1.KindStatus, Status: status} }
	refused := "HTTP/1.1 413 Too Large\r\nConnection: close\r\n" + empty
	all := []Entry{
		{Name: "a large request, read", Server: Behaviour{Answer: sized("body")}, Want: reused(4)},
		{Name: "a request that is never read", Server: Behaviour{Unread: true, Accept: frozen}, Want: Want{Kind: http1.KindWriteTimeout, Unseen: true}},
		{Name: "a window that closes", Server: Behaviour{Unread: true, Then: sip}, Want: fails(http1.KindWriteTimeout)},
		{Name: "413 before the body was read, and the rest read", Server: Behaviour{Unread: true, Answer: refused, Then: half}, Want: status(413)},
		{Name: "413 before the body was read, and no more", Server: Behaviour{Unread: true, Answer: refused, Then: frozen}, Want: status(413)},
		{Name: "200 before the body was read, and no more", Server: Behaviour{Unread: true, Answer: sized("body"), Then: frozen}, Want: whole(200, 4)},
		{Name: "401 before the body was read, under TLS", Server: Behaviour{TLS: true, Unread: true, Answer: "HTTP/1.1 401 No\r\n" + empty, Then: frozen}, Want: status(401)},
		{Name: "a body that is read slowly", Server: Behaviour{Unread: true, Answer: "", Then: slow}, Want: reused(4)},
		{Name: "the end while the body is sent", Server: Behaviour{Unread: true, Then: half}, Want: fails(http1.KindClosed)},
		{Name: "a reset while the body is sent", Server: Behaviour{Unread: true, Then: reset}, Want: fails(http1.KindReset)},
		{Name: "100 Continue, then 417", Server: Behaviour{Answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 417 No\r\nConnection: close\r\n" + empty}, Want: status(417)},
	}
	for i := range all {
		all[i].Ask.Method, all[i].Ask.Body = "POST", bodySent
	}
	return all
}

// sip reads a little of the body, then nothing: the window stays closed.
func sip(s *Session) bool {
	var some [4 << 10]byte
	_, _ = s.reader.Read(some[:])
	return frozen(s)
}

func slow(s *Session) bool {
	_ = s.TCP.SetReadBuffer(64 << 10)
	for left := s.length; left > 0; {
		n, err := s.reader.Discard(min(left, 1<<20))
		if left -= n; err != nil || !s.server.port.Wait(time.Millisecond) {
			return false
		}
	}
	s.Say(sized("body"))
	return true
}
