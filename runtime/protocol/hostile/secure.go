package hostile

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/forge"
	"hyperscale/runtime/protocol/http1"
)

// handshakes are servers with which TLS never stands, or only just.
func handshakes() []Entry {
	return append(certificates(), []Entry{
		under("a handshake that stalls", says("", hold), http1.KindConnectTimeout),
		under("a handshake that stalls after half a record", says("\x16\x03\x03\x40\x00\x02", hold), http1.KindConnectTimeout),
		under("a handshake byte by byte, for ever", dripHandshake, http1.KindConnectTimeout),
		under("the end instead of a handshake", half, http1.KindClosed),
		under("a reset instead of a handshake", reset, http1.KindReset),
		under("a fatal alert: handshake_failure", says("\x15\x03\x03\x00\x02\x02\x28", half), http1.KindTLSAlert),
		under("a fatal alert: internal_error", says("\x15\x03\x03\x00\x02\x02\x50", half), http1.KindTLSAlert),
		underFlood("warning alerts for ever", many("\x15\x03\x03\x00\x02\x01\x5a", 1000)),
		underFlood("empty records for ever", many("\x16\x03\x03\x00\x00", 1000)),
		under("plain HTTP on the TLS port", says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"+empty, hold), http1.KindTLS),
		under("a banner on the TLS port", says("220 mail ready\r\n", hold), http1.KindTLS),
		underFlood("zeros instead of a handshake", many("\x00", 1<<16)),
		under("a record that is too large", says("\x16\x03\x03\xff\xff", hold), http1.KindTLS),
		answers("TLS on the plain port", "\x15\x03\x01\x00\x02\x02\x46", quit, fails(http1.KindProtocol)),
		{
			Name: "no common protocol in ALPN", Want: Want{Kind: http1.KindTLSAlert, Unseen: true},
			Server: Behaviour{Secure: authority.Secured(func(c *tls.Config) { c.NextProtos = []string{"x"} })},
		},
		{
			Name: "no ALPN at all", Want: reused(4),
			Server: Behaviour{Answer: sized("body"), Secure: authority.Secured(func(c *tls.Config) { c.NextProtos = nil })},
		},
		{
			Name: "TLS 1.1", Want: Want{Kind: http1.KindTLSAlert, Unseen: true},
			Server: Behaviour{Secure: authority.Secured(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })},
		},
		{
			Name: "TLS 1.2", Want: reused(4),
			Server: Behaviour{Answer: sized("body"), Secure: authority.Secured(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })},
		},
		{
			Name: "a client certificate demanded", Want: Want{Kind: http1.KindTLSAlert, Unseen: true},
			Server: Behaviour{Secure: authority.Secured(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })},
		},
		{
			Name: "a client certificate demanded, in TLS 1.2", Want: Want{Kind: http1.KindTLSAlert, Unseen: true},
			Server: Behaviour{Secure: authority.Secured(func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 })},
		},
	}...)
}

// under is a server that never gets to TLS.
func under(name string, accept Act, kind http1.Kind) Entry {
	return Entry{Name: name, Server: Behaviour{TLS: true, Accept: accept}, Want: Want{Kind: kind, Unseen: true}}
}

func underFlood(name, text string) Entry {
	e := under(name, floods(text), http1.KindTLS)
	e.Flood = true
	return e
}

// dripHandshake sends a record of the greatest length, whose message never ends.
func dripHandshake(s *Session) bool {
	return s.Drip("\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"+many("\x00", 1<<14), 5*time.Millisecond) && hold(s)
}

func certificates() []Entry {
	refuse := func(name string, secure func() *tls.Config, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Secure: secure}, Want: Want{Kind: kind, Unseen: true}}
	}
	return []Entry{
		refuse("an unknown authority", authority.Secured(func(c *tls.Config) { c.Certificates = []tls.Certificate{authority.New().Good()} }), http1.KindTLSAuthority),
		refuse("a certificate for another name", authority.Certified(func(c *x509.Certificate) { c.IPAddresses = nil }), http1.KindTLSName),
		refuse("a certificate for another address", authority.Certified(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} }), http1.KindTLSName),
		refuse("an expired certificate", authority.Certified(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
		}), http1.KindTLSExpired),
		refuse("a certificate of tomorrow", authority.Certified(func(c *x509.Certificate) {
			c.NotBefore = time.Now().Add(24 * time.Hour)
			c.NotAfter = c.NotBefore.Add(time.Hour)
		}), http1.KindTLSExpired),
		refuse("a certificate for clients", authority.Certified(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}), http1.KindTLS),
	}
}

// records are servers that go wrong once TLS stands.
func records() []Entry {
	tlsOf := func(name, answer string, then Act, want Want) Entry {
		return Entry{Name: name, Server: Behaviour{TLS: true, Answer: answer, Then: then}, Want: want}
	}
	early := "Content-Length: 9\r\n\r\nbody"
	forged := func(name string, version uint16, act func(*forge.Forger, io.Writer, *forge.Tap) bool) Entry {
		f := &forge.Forger{}
		return Entry{
			Name: name, Want: fails(http1.KindTLS), Flood: true,
			Server: Behaviour{Then: func(s *Session) bool { return act(f, s.TCP, s.tap) && hold(s) }, Secure: authority.Secured(func(c *tls.Config) {
				c.MaxVersion, c.KeyLogWriter, c.SessionTicketsDisabled = version, f, true
				c.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
			})},
		}
	}
	return []Entry{
		tlsOf("an answer under TLS", sized("body"), stay, reused(4)),
		tlsOf("an answer byte by byte, each in a record", "", drips(sized("body"), 0, stay), reused(4)),
		tlsOf("no length and a proper end, under TLS", ok+"\r\nbody", quit, whole(200, 4)),
		tlsOf("no length and an end without close_notify", ok+"\r\nbody", cut, fails(http1.KindTruncated)),
		tlsOf("less than said and an end without close_notify", ok+early, cut, fails(http1.KindTruncated)),
		tlsOf("less than said and a proper end", ok+early, quit, fails(http1.KindTruncated)),
		tlsOf("Connection: close and an end without close_notify", ok+"Connection: close\r\n"+four+"body", cut, whole(200, 4)),
		tlsOf("no answer and an end without close_notify", "", cut, fails(http1.KindClosed)),
		tlsOf("no answer and a proper end", "", quit, fails(http1.KindClosed)),
		tlsOf("a reset under TLS", "", reset, fails(http1.KindReset)),
		tlsOf("a stall under TLS", ok+early, hold, fails(http1.KindTimeout)),
		tlsOf("a record that is cut", ok+early, below("\x17\x03\x03\x00\x40\x00\x00\x00", cut), fails(http1.KindTruncated)),
		tlsOf("a record that stalls", ok+early, below("\x17\x03\x03\x00\x40\x00\x00\x00", hold), fails(http1.KindTimeout)),
		tlsOf("a record that was tampered with", ok+early, below("\x17\x03\x03\x00\x20"+many("x", 0x20), hold), fails(http1.KindTLS)),
		tlsOf("plain text amid TLS", ok+early, below(sized("evil"), hold), fails(http1.KindTLS)),
		tlsOf("more than said, under TLS", ok+four+"body and more", stay, whole(200, 4)),
		tlsOf("a body without a head, under TLS", "<html>", quit, fails(http1.KindProtocol)),
		forged("KeyUpdate for ever", tls.VersionTLS13, (*forge.Forger).KeyUpdates),
		forged("HelloRequest for ever", tls.VersionTLS12, (*forge.Forger).HelloRequests),
	}
}

// below writes to the connection without the server's TLS.
func below(text string, then Act) Act {
	return func(s *Session) bool {
		_, _ = s.TCP.Write([]byte(text))
		return then(s)
	}
}
