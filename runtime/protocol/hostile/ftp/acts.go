package ftp

import (
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

func quit(*Session) bool { return false }

// hold keeps the connection open until the client closes it.
func hold(s *Session) bool {
	_, _ = io.Copy(io.Discard, s.reader)
	return false
}

// reset closes with a RST.
func reset(s *Session) bool {
	_ = s.SetLinger(0)
	_ = s.TCPConn.Close()
	return false
}

// says answers, and goes on.
func says(text string) Act { return then(text, func(*Session) bool { return true }) }

// then answers, and does what follows.
func then(text string, act Act) Act {
	return func(s *Session) bool {
		s.say(text)
		return act(s)
	}
}

// onData does something with the data connection, which ends behind it, and goes on.
func onData(do func(s *Session, c net.Conn)) Act {
	return func(s *Session) bool {
		if c := s.data(); c != nil {
			do(s, c)
			_ = c.Close()
		}
		return true
	}
}

// resetData breaks a data connection off behind a part of the file.
func resetData(s *Session, c net.Conn) {
	_, _ = io.WriteString(c, Next)
	s.server.port.Wait(50 * time.Millisecond)
	_ = raw(c).SetLinger(0)
}

// cutData ends one without what TLS ends it with.
func cutData(s *Session, c net.Conn) {
	_, _ = io.WriteString(c, Next)
	_ = raw(c).CloseWrite()
	_, _ = io.Copy(io.Discard, raw(c))
}

// resetDataAtOnce breaks one off so early that a client finds the part of the file and the reset together.
func resetDataAtOnce(_ *Session, c net.Conn) {
	_, _ = io.WriteString(c, Next)
	_ = raw(c).SetLinger(0)
}

// urgentData sends a byte that is no part of the file in its midst, and all of it with the end in one segment. A
// read ends before that byte.
func urgentData(_ *Session, c net.Conn) {
	at, err := raw(c).SyscallConn()
	if err != nil {
		return
	}
	_ = at.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, 1)
		_ = syscall.Sendto(int(fd), []byte("first"), 0, nil)
		_ = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil)
		_ = syscall.Sendto(int(fd), []byte(Next), 0, nil)
	})
}

// sleeps keeps it open until the client closes the control connection.
func sleeps(s *Session, _ net.Conn) { _, _ = io.Copy(io.Discard, s.reader) }

// drips sends the file byte by byte, without end.
func drips(s *Session, c net.Conn) {
	for s.server.port.Wait(100 * time.Millisecond) {
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
	}
}

// refusing names a port at which nothing listens.
func refusing(s *Session) bool {
	at := s.listen()
	_ = s.listener.Close()
	s.listener = nil
	s.say("229 (|||" + at + "|)\r\n")
	return true
}

// clear sends the file in clear, where TLS was agreed on.
func clear(s *Session) bool {
	c := s.accept()
	if c == nil {
		return false
	}
	_, _ = io.WriteString(c, strings.Repeat(Next, 100))
	_ = c.Close()
	return true
}
