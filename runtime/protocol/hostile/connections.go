package hostile

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// connections are about which side closes the connection, and how.
func connections() []Entry {
	closed := fails(http1.KindClosed)
	unseen := func(e Entry, accept Act) Entry {
		e.Server.Accept, e.Want.Unseen = accept, true
		return e
	}
	old := "HTTP/1.0 200 OK\r\n"
	return []Entry{
		answers("the end instead of an answer", "", quit, closed),
		answers("FIN alone instead of an answer", "", half, closed),
		answers("a reset instead of an answer", "", reset, fails(http1.KindReset)),
		answers("no answer", "", hold, fails(http1.KindTimeout)),
		answers("a reset inside the head", ok+"A: b", reset, fails(http1.KindReset)),
		answers("a reset inside the body", ok+"Content-Length: 9\r\n\r\nbody", reset, fails(http1.KindReset)),
		unseen(answers("a reset at once", "", nil, fails(http1.KindReset)), reset),
		unseen(answers("the end at once", "", nil, closed), half),
		{
			Name:   "a banner before the request",
			Server: Behaviour{Accept: says("220 mail ready\r\n", stay), Then: hold},
			Want:   fails(http1.KindProtocol),
		},
		answers("Connection: close, left open", ok+"Connection: close\r\n"+four+"body", stay, whole(200, 4)),
		answers("Connection: close, closed", ok+"Connection: close\r\n"+four+"body", quit, whole(200, 4)),
		answers("Connection: close in a list", ok+"Connection: a, CLOSE\r\n"+four+"body", stay, whole(200, 4)),
		answers("close and keep-alive", ok+"Connection: keep-alive, close\r\n"+four+"body", stay, whole(200, 4)),
		answers("Keep-Alive: max=0", ok+"Keep-Alive: timeout=5, max=0\r\n"+four+"body", stay, whole(200, 4)),
		answers("Keep-Alive: max=9", ok+"Keep-Alive: max=9, timeout=5\r\n"+four+"body", stay, reused(4)),
		answers("Keep-Alive of nonsense", ok+"Keep-Alive: max=-1, timeout=, =5, max\r\n"+four+"body", stay, reused(4)),
		answers("HTTP/1.0", old+four+"body", stay, whole(200, 4)),
		answers("HTTP/1.0 with keep-alive", old+"Connection: Keep-Alive\r\n"+four+"body", stay, reused(4)),
		answers("HTTP/1.0 with keep-alive, without a length", old+"Connection: keep-alive\r\n\r\nbody", quit, whole(200, 4)),
		answers("HTTP/1.0 with chunks", old+"Connection: keep-alive\r\n"+coded+"4\r\nbody\r\n"+noChunk, stay, whole(200, 4)),
		{
			Name: "the end in the race for the connection", Ask: Ask{After: 1},
			Server: Behaviour{Then: quit}, Want: closed,
		},
		{
			Name: "a reset in the race for the connection", Ask: Ask{After: 1},
			Server: Behaviour{Then: reset}, Want: closed,
		},
		{
			Name: "a reset inside the second answer", Ask: Ask{After: 1},
			Server: Behaviour{Answer: "HTTP/1.1 2", Then: reset}, Want: fails(http1.KindReset),
		},
	}
}

// pause is long enough to see what happens on an idle connection, also on a busy machine.
const pause = 300 * time.Millisecond

// idles are what happens on a connection between two requests.
func idles() []Entry {
	var all []Entry
	for _, e := range []Entry{
		answers("the end of an idle connection", sized("body"), quit, whole(200, 4)),
		answers("FIN alone on an idle connection", sized("body"), half, whole(200, 4)),
		answers("a reset of an idle connection", sized("body"), reset, whole(200, 4)),
		answers("an answer to nothing", "", unasked(sized("body"), sized("evil"), stay), whole(200, 4)),
		answers("an answer to nothing behind urgent data", "", unaskedUrgent(sized("body"), sized("evil")), whole(200, 4)),
		answers("408 and the end on an idle connection", "", unasked(sized("body"), "HTTP/1.1 408 Late\r\nConnection: close\r\n"+empty, quit), whole(200, 4)),
		answers("garbage on an idle connection", "", unasked(sized("body"), "\x00", stay), whole(200, 4)),
		answers("a body behind 204, in a packet of its own", "", unasked("HTTP/1.1 204 No\r\n"+four, "body", stay), whole(204, 0)),
		{
			Name:   "an answer to nothing, under TLS",
			Server: Behaviour{TLS: true, Then: unasked(sized("body"), sized("evil"), stay)}, Want: whole(200, 4),
		},
		{
			Name:   "the end of an idle connection, under TLS",
			Server: Behaviour{TLS: true, Answer: sized("body"), Then: quit}, Want: whole(200, 4),
		},
		{
			Name:   "the end of an idle connection, under TLS and without close_notify",
			Server: Behaviour{TLS: true, Answer: sized("body"), Then: cut}, Want: whole(200, 4),
		},
	} {
		e.Ask.Pause = pause
		all = append(all, e)
	}
	return all
}

// unaskedUrgent sends a byte out of band between the answer and more.
func unaskedUrgent(answer, more string) Act {
	return func(s *Session) bool {
		s.Say(answer)
		if !outOfBand(s) {
			return false
		}
		s.Say(more)
		return true
	}
}

// unasked sends an answer, then more in a separate packet.
func unasked(answer, more string, then Act) Act {
	return func(s *Session) bool {
		s.Say(answer)
		s.Say(more)
		return then(s)
	}
}
