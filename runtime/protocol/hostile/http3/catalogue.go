package http3

import (
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/protocol/http1"
)

// stays keeps a stream open, until the connection ends.
func stays(x *Exchange) { <-x.Conn.Context().Done() }

// says answers with bytes, and ends the stream.
func says(text string) Behaviour { return Behaviour{Then: func(x *Exchange) { x.End(text) }} }

// keeps answers with bytes, and leaves the stream open.
func keeps(text string) Behaviour {
	return Behaviour{Then: func(x *Exchange) { x.Say(text); stays(x) }}
}

// opens opens a stream of the server behind the request.
func opens(text string) Behaviour {
	return Behaviour{Then: func(x *Exchange) { OpenUni(x.Conn, text); stays(x) }}
}

// control says something on the control stream of the first connection, and answers well.
func control(text string) Behaviour {
	return Behaviour{Opens: func(c *quic.Conn) { OpenUni(c, text) }}
}

// closes closes the connection behind bytes of an answer.
func closes(text string, code quic.ApplicationErrorCode) Behaviour {
	return Behaviour{Then: func(x *Exchange) { x.Say(text); _ = x.Conn.CloseWithError(code, "") }}
}

var good = Want{Body: len(Good), Same: true}

func wants(kind http1.Kind) Want { return Want{Kind: kind} }
func same(kind http1.Kind) Want  { return Want{Kind: kind, Same: true} }

// All returns the catalogue.
func All() []Entry {
	return append(append(connections(), responses()...), streams()...)
}

// connections are behaviours of QUIC and TLS.
func connections() []Entry {
	return []Entry{
		{Name: "behaves well", Want: good},
		{Name: "nothing listens", Server: Behaviour{Port: PortNothing}, Want: Want{Kind: http1.KindRefused, Once: true}},
		{Name: "says nothing at all", Server: Behaviour{Port: PortSilent}, Want: Want{Kind: http1.KindConnectTimeout, Once: true, Late: true}},
		{Name: "another protocol on the port", Server: Behaviour{Port: PortGarbage}, Want: Want{Kind: http1.KindConnectTimeout, Once: true, Late: true}},
		{Name: "asks for a Retry", Server: Behaviour{QUIC: func(_ *quic.Config, t *quic.Transport) { t.VerifySourceAddress = func(net.Addr) bool { return true } }}, Want: good},
		{Name: "negotiates version 2", Server: Behaviour{QUIC: func(c *quic.Config, _ *quic.Transport) { c.Versions = []quic.Version{quic.Version2} }}, Want: good},
		{Name: "loses and reorders datagrams", Server: Behaviour{Lossy: 12, Then: func(x *Exchange) { x.End(Head() + strings.Repeat(Frame(0, strings.Repeat("x", 1000)), 30)) }}, Want: Want{Body: 30_000, Same: true}},
		{Name: "refuses connections", Server: Behaviour{QUIC: func(c *quic.Config, _ *quic.Transport) {
			c.GetConfigForClient = func(*quic.ClientInfo) (*quic.Config, error) { return nil, net.ErrClosed }
		}}, Want: Want{Kind: http1.KindRefused, Once: true}},
		{Name: "speaks no h3", Server: Behaviour{TLS: func(c *tls.Config) { c.NextProtos = []string{"doq"} }}, Want: Want{Kind: http1.KindTLSAlert, Once: true}},
		{Name: "is signed by another authority", Server: Behaviour{TLS: Other}, Want: Want{Kind: http1.KindTLSAuthority, Once: true}},
		{Name: "allows one stream at a time", Server: Behaviour{QUIC: func(c *quic.Config, _ *quic.Transport) { c.MaxIncomingStreams = 1 }}, Want: good},
		{Name: "has tiny windows", Server: Behaviour{QUIC: func(c *quic.Config, _ *quic.Transport) {
			c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 300, 300
			c.InitialConnectionReceiveWindow, c.MaxConnectionReceiveWindow = 600, 600
		}}, Body: 20_000, Want: good},
		{Name: "closes before it answers", Server: closes("", 0x100), Want: wants(http1.KindClosed)},
		{Name: "stalls in the middle", Server: keeps(Head() + Frame(0, "ha")[:4]), Want: Want{Kind: http1.KindTimeout, Same: true, Late: true}},
		{Name: "closes with H3_INTERNAL_ERROR", Server: closes("", 0x102), Want: wants(http1.KindClosed)},
		{Name: "closes with a code of its own", Server: closes("", 0x7777), Want: wants(http1.KindClosed)},
	}
}

// responses are behaviours on the stream of the request.
func responses() []Entry {
	return []Entry{
		{Name: "never answers", Server: Behaviour{Then: stays}, Want: Want{Kind: http1.KindTimeout, Same: true, Late: true}},
		{Name: "ends without an answer", Server: says(""), Want: same(http1.KindProtocol)},
		{Name: "sends the body first", Server: says(Frame(0, "x") + Head()), Want: wants(http1.KindProtocol)},
		{Name: "cuts a frame", Server: says(Head() + "\x00\x05ab"), Want: wants(http1.KindProtocol)},
		{Name: "sends more than content-length", Server: says(Head("content-length", "1") + Frame(0, "ab")), Want: same(http1.KindProtocol)},
		{Name: "sends less than content-length", Server: says(Head("content-length", "3") + Frame(0, "ab")), Want: same(http1.KindProtocol)},
		{Name: "resets with H3_INTERNAL_ERROR", Server: Behaviour{Then: func(x *Exchange) { x.Say(Head()); x.CancelWrite(0x102) }}, Want: same(http1.KindStreamReset)},
		{Name: "rejects the request", Server: Behaviour{Then: func(x *Exchange) { x.CancelWrite(0x10b) }}, Want: same(http1.KindRefusedStream)},
		{Name: "stops the request and answers", Server: Behaviour{Early: true, Then: func(x *Exchange) { x.CancelRead(0x100); x.End(Head() + Frame(0, "early")) }}, Body: 4 << 20, Want: Want{Body: 5, Same: true}},
		{Name: "answers early and reads on", Server: Behaviour{Early: true, Then: func(x *Exchange) { x.End(Head() + Frame(0, "early")); stays(x) }}, Body: 4 << 20, Want: Want{Body: 5, Same: true}},
		{Name: "stops the request", Server: Behaviour{Early: true, Then: func(x *Exchange) { x.CancelRead(0x10b); stays(x) }}, Body: 4 << 20, Want: same(http1.KindRefusedStream)},
		{Name: "uses a dynamic table", Server: says(Frame(1, "\x02\x00\x80")), Want: wants(http1.KindCompression)},
		{Name: "refers to no entry", Server: says(Frame(1, "\x00\x00\xff\x24")), Want: wants(http1.KindCompression)},
		{Name: "sends a huge head", Server: keeps("\x01\x80\x20\x00\x00"), Want: wants(http1.KindTooLarge)},
		{Name: "sends unknown frames", Server: says("\x21\x03abc" + Head() + "\x40\x21\x00" + Frame(0, "ok")), Want: Want{Body: 2, Same: true}},
		{Name: "floods with empty frames", Server: keeps(Head() + strings.Repeat("\x00\x00", 11_000)), Want: wants(http1.KindFlood)},
		{Name: "sends a frame of HTTP/2", Server: keeps("\x08\x00"), Want: wants(http1.KindProtocol)},
		{Name: "sends SETTINGS on a request", Server: keeps("\x04\x00"), Want: wants(http1.KindProtocol)},
		{Name: "pushes", Server: keeps("\x05\x01\x00"), Want: wants(http1.KindProtocol)},
		{Name: "announces a frame of 2^60 bytes", Server: keeps(Head() + "\x00\xd0\x00\x00\x00\x00\x00\x00\x00x"), Want: Want{Kind: http1.KindTimeout, Same: true, Late: true}},
		{Name: "sends two heads", Server: says(Head() + Head()), Want: same(http1.KindProtocol)},
		{Name: "sends interim heads without end", Server: keeps(strings.Repeat(Frame(1, "\x00\x00\xd8"), 20)), Want: same(http1.KindProtocol)},
	}
}

// streams are behaviours on streams of the server.
func streams() []Entry {
	return []Entry{
		{Name: "says nothing on control", Server: control("\x00"), Want: good},
		{Name: "opens control late", Server: Behaviour{Opens: func(*quic.Conn) {}}, Want: good},
		{Name: "opens a second control stream", Server: opens("\x00"), Want: wants(http1.KindProtocol)},
		{Name: "begins control with GOAWAY", Server: Behaviour{Opens: func(*quic.Conn) {}, Then: func(x *Exchange) { OpenUni(x.Conn, "\x00\x07\x01\x00"); stays(x) }}, Want: wants(http1.KindProtocol)},
		{Name: "GOAWAY before the request", Server: Behaviour{Opens: func(*quic.Conn) {}, Then: func(x *Exchange) { OpenUni(x.Conn, Settings+"\x07\x01\x00"); stays(x) }}, Want: wants(http1.KindGoaway)},
		{Name: "GOAWAY behind the request", Server: Behaviour{Race: true, Opens: func(*quic.Conn) {}, Then: func(x *Exchange) {
			OpenUni(x.Conn, Settings+"\x07\x01\x04")
			time.Sleep(10 * time.Millisecond) // else the answer's stream mostly overtakes it
			x.End(Head() + Frame(0, "last"))
		}}, Want: Want{Body: 4}},
		{Name: "sets a setting of HTTP/2", Server: Behaviour{Opens: func(*quic.Conn) {}, Then: func(x *Exchange) { OpenUni(x.Conn, "\x00\x04\x02\x03\x00"); stays(x) }}, Want: wants(http1.KindProtocol)},
		{Name: "closes control", Server: Behaviour{Opens: func(*quic.Conn) {}, Then: func(x *Exchange) { _ = OpenUni(x.Conn, Settings).Close(); stays(x) }}, Want: wants(http1.KindProtocol)},
		{Name: "opens a push stream", Server: opens("\x01\x00"), Want: wants(http1.KindProtocol)},
		{Name: "fills the dynamic table", Server: opens("\x02\xc0\x00"), Want: wants(http1.KindCompression)},
		{Name: "acknowledges what was not said", Server: opens("\x03\x80"), Want: wants(http1.KindCompression)},
		{Name: "opens unknown streams", Server: Behaviour{Then: func(x *Exchange) {
			OpenUni(x.Conn, "\x21hello")
			OpenUni(x.Conn, "\x40\x40hello")
			x.End(Head() + Frame(0, "ok"))
		}}, Want: Want{Body: 2, Same: true}},
	}
}
