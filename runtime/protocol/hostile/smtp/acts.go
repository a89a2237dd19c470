package smtp

import (
	"io"
	"time"
)

func quit(*Session) bool { return false }

func goOn(*Session) bool { return true }

// hold keeps the connection open until the client closes it.
func hold(s *Session) bool {
	_, _ = io.Copy(io.Discard, s.reader)
	return false
}

// frozen keeps it open and reads nothing.
func frozen(s *Session) bool {
	<-s.server.port.Closing()
	return false
}

// reset closes with a RST.
func reset(s *Session) bool {
	_ = s.SetLinger(0)
	_ = s.TCPConn.Close()
	return false
}

// says answers, and goes on.
func says(text string) Act { return then(text, goOn) }

// then answers, and does what follows.
func then(text string, act Act) Act {
	return func(s *Session) bool {
		s.say(text)
		return act(s)
	}
}

// drips answers byte by byte.
func drips(text string, each time.Duration) Act {
	return func(s *Session) bool {
		for i := range len(text) {
			s.say(text[i : i+1])
			if !s.server.port.Wait(each) {
				return false
			}
		}
		return true
	}
}

// floods answers without end.
func floods(text string) Act {
	return func(s *Session) bool {
		for range 1 << 20 {
			if _, err := io.WriteString(s.TCPConn, many(text, 1000)); err != nil {
				return false
			}
		}
		return false
	}
}

// late answers when the client has given up: then its connection has ended.
func late(text string) Act {
	return func(s *Session) bool {
		_, _ = io.Copy(io.Discard, s.reader)
		s.say(text)
		return false
	}
}
