package websocket

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

const empty = "Content-Length: 0\r\n\r\n"

// connections are about what becomes of the connection before a dialogue.
func connections() []Entry {
	accepts := func(name string, act Act, want Want) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: want}
	}
	after := func(name string, act Act, want Want) Entry {
		return Entry{Name: name, Server: Behaviour{After: act}, Want: want}
	}
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("no answer to the upgrade", hold, fails(http1.KindTimeout)),
		accepts("a banner before the request", says("220 mail ready\r\n", hold), fails(http1.KindProtocol)),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), fails(http1.KindProtocol)),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), fails(http1.KindProtocol)),
		upgrade("the end instead of an answer", "", quit, fails(http1.KindClosed)).silent(),
		upgrade("a reset instead of an answer", "", reset, fails(http1.KindReset)).silent(),
		upgrade("the end inside the answer's head", switching, half, fails(http1.KindTruncated)),
		upgrade("a head without end", "HTTP/1.1 101 Switching Protocols\r\nA: ", floods("a"), fails(http1.KindTooLarge)).flooding(),
		upgrade("fields without end", "HTTP/1.1 101 Switching Protocols\r\n", floods("a: b\r\n"), fails(http1.KindTooLarge)).flooding(),
		upgrade("interim answers without end", "HTTP/1.1 100 Continue\r\n\r\n", floods("HTTP/1.1 100 Continue\r\n\r\n"), fails(http1.KindProtocol)).flooding(),
		after("the end behind 101", half, fails(http1.KindClosed)),
		after("silence behind 101", hold, fails(http1.KindTimeout)),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{After: frozen}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Size: 8 << 20}),
		answers("silence behind a message", "", hold, fails(http1.KindTimeout)),
		answers("an answer behind the deadline", "", late, fails(http1.KindTimeout)),
		answers("the end instead of a message", "", half, fails(http1.KindClosed)),
		answers("a reset instead of a message", "", reset, fails(http1.KindReset)),
		answers("a byte of a message now and then, without end", "", drips(frame(fText, many("x", 125)), 100*time.Millisecond, hold), fails(http1.KindTimeout)),
	}
}

// silent says nothing where 101 would be.
func (e Entry) silent() Entry {
	after := e.Server.After
	e.Server = Behaviour{Accept: func(s *Session) bool { return s.request() && after(s) }}
	return e
}

// upgrades are answers that do not switch, or not rightly.
func upgrades() []Entry {
	status := func(name, line string, status int) Entry {
		return upgrade(name, "HTTP/1.1 "+line+"\r\n"+empty, hold, Want{Kind: http1.KindStatus, Status: status})
	}
	wrong := func(name, text string) Entry {
		return upgrade(name, "HTTP/1.1 101 Switching Protocols\r\n"+text+"\r\n", hold, fails(http1.KindProtocol))
	}
	return []Entry{
		upgrade("200 for 101", "HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"+empty, hold, Want{Kind: http1.KindProtocol, Status: 200}),
		status("302", "302 Found\r\nLocation: /elsewhere", 302),
		status("401", "401 Unauthorized\r\nWWW-Authenticate: Basic", 401),
		status("404", "404 Not Found", 404),
		status("426", "426 Upgrade Required\r\nSec-WebSocket-Version: 8, 7", 426),
		status("503, and the end", "503 Unavailable\r\nConnection: close", 503),
		wrong("no Upgrade", "Connection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"),
		wrong("another Upgrade", "Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"),
		wrong("no Connection", "Upgrade: websocket\r\nSec-WebSocket-Accept: KEY\r\n"),
		wrong("no accept key", "Upgrade: websocket\r\nConnection: Upgrade\r\n"),
		wrong("the accept key of another request", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
		wrong("an empty accept key", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept:\r\n"),
		wrong("the accept key twice", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\nSec-WebSocket-Accept: x\r\n"),
	}
}

// chosen are protocols and extensions that the server chooses.
func chosen() []Entry {
	chooses := func(name, field string, a Ask) Entry {
		return upgrade(name, switching+field+"\r\n\r\n", hold, fails(http1.KindProtocol)).asking(a)
	}
	const extensions = "Sec-WebSocket-Extensions: permessage-deflate"
	both := Ask{Protocols: []string{"v1", "v2"}}
	deflate := Ask{Compressed: true}
	return []Entry{
		chooses("a protocol, and none was offered", "Sec-WebSocket-Protocol: v1", Ask{}),
		chooses("a protocol that was not offered", "Sec-WebSocket-Protocol: v3", both),
		chooses("both protocols", "Sec-WebSocket-Protocol: v1, v2", both),
		chooses("compression, and none was offered", extensions, Ask{}),
		chooses("an extension that was not offered", "Sec-WebSocket-Extensions: bbf-usp-protocol", deflate),
		chooses("a server that keeps its context", extensions, deflate),
		chooses("a window that was not offered", extensions+"; server_no_context_takeover; client_max_window_bits=9", deflate),
		chooses("compression twice", extensions+"; server_no_context_takeover, permessage-deflate", deflate),
	}
}
