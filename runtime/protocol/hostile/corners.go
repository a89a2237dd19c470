package hostile

import (
	"crypto/tls"
	"strings"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// corners are answers at the corners of RFC 9110 and 9112.
func corners() []Entry {
	protocol, late := fails(http1.KindProtocol), fails(http1.KindTimeout)
	large := fails(http1.KindTooLarge)
	body := func(fields string) string { return ok + fields + four + "body" }
	chunks := func(text string) string { return ok + coded + text }
	all := []Entry{
		answers("status 000", "HTTP/1.1 000 No\r\n"+empty, hold, protocol),
		answers("a sign in the status", "HTTP/1.1 +20 OK\r\n"+empty, hold, protocol),
		answers("a tab before the status", "HTTP/1.1\t200 OK\r\n"+empty, hold, protocol),
		answers("HTTP/11", "HTTP/11 200 OK\r\n"+empty, hold, protocol),
		answers("HTTP/1.10", "HTTP/1.10 200 OK\r\n"+empty, hold, protocol),
		answers("two carriage returns behind the status", "HTTP/1.1 200 OK\r\r\n"+empty, hold, protocol),
		answers("two carriage returns behind a value", ok+"A: b\r\r\n"+empty, hold, protocol),
		answers("carriage returns alone", strings.ReplaceAll(sized("body"), "\n", ""), hold, late),
		answers("carriage returns alone, then the end", strings.ReplaceAll(sized("body"), "\n", ""), quit, fails(http1.KindTruncated)),
		answers("a head of 64 KiB", ok+"A: "+many("b", http1.MaxHeadBytes-len(ok)-len("A: \r\n")-len(four))+"\r\n"+four+"body", stay, reused(4)),
		answers("a head of 64 KiB and a byte", ok+"A: "+many("b", http1.MaxHeadBytes-len(ok)-len("A: \r\n")-len(four)+1)+"\r\n"+four+"body", hold, large),
		answers("a value of 60 KB byte by byte", "", drips(body("A: "+many("b", 60_000)+"\r\n"), 0, stay), reused(4)),
		answers("1,000 fields", body(many("A: b\r\n", 999)), stay, reused(4)),
		answers("1,001 fields", body(many("A: b\r\n", 1000)), hold, large),
		answers("a name of 60 KB", body(many("a", 60_000)+": b\r\n"), stay, reused(4)),
		answers("a value of blanks and tabs", body("A: \t \t \r\n"), stay, reused(4)),
		answers("a name of 8-bit bytes", body("\xc3\xa4: b\r\n"), hold, protocol),
		answers("a name with a bracket", body("a(b: c\r\n"), hold, protocol),
		answers("an interim answer with chunks announced", "HTTP/1.1 103 Hints\r\n"+coded+sized("body"), stay, reused(4)),
		answers("an interim answer with a length of letters", "HTTP/1.1 103 Hints\r\nContent-Length: x\r\n\r\n"+sized("body"), hold, protocol),
		answers("100 Continue twice", many("HTTP/1.1 100 Continue\r\n\r\n", 2)+sized("body"), stay, reused(4)),
		answers("status 199", "HTTP/1.1 199 Odd\r\n\r\n"+sized("body"), stay, reused(4)),
		answers("an interim answer behind the answer", sized("body")+"HTTP/1.1 100 Continue\r\n\r\n", stay, whole(200, 4)),
		answers("a length in the trailers", chunks("4\r\nbody\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: gzip\r\nConnection: close\r\nSet-Cookie: a=b\r\n\r\n"), stay, reused(4)),
		answers("extensions and trailers byte by byte", "", drips(chunks("2;a=\"b\"\r\nbo\r\n02 ; c\r\ndy\r\n000;d\r\nE: f\r\n g\r\n\r\n"), 0, stay), reused(4)),
		answers("a line end inside a quoted extension", chunks("4;a=\"\r\n\"\r\nbody\r\n"+noChunk), hold, protocol),
		answers("a carriage return inside an extension", chunks("4;a\rb\r\nbody\r\n"+noChunk), hold, protocol),
		answers("a trailer with NUL", chunks("4\r\nbody\r\n0\r\nA: \x00\r\n\r\n"), hold, protocol),
		answers("a trailer with a blank in its name", chunks("4\r\nbody\r\n0\r\nA b: c\r\n\r\n"), hold, protocol),
		answers("chunked in odd cases", ok+"tRANSFER-eNCODING: ChUnKeD\r\n\r\n4\r\nbody\r\n"+noChunk, stay, reused(4)),
		answers("a length that is written in two ways", ok+"Content-Length: 4\r\nContent-Length: 004\r\n\r\nbody", stay, reused(4)),
		answers("keep-alive and close in two fields", body("Connection: keep-alive\r\nConnection: close\r\n"), stay, whole(200, 4)),
		answers("a Connection that names the length", body("Connection: Content-Length, , ,\r\n"), stay, reused(4)),
		answers("a Connection of 10,000 commas", body("Connection: "+many(",", 10_000)+"close\r\n"), stay, whole(200, 4)),
		answers("Connection: closed", body("Connection: closed, xclose, close-x\r\n"), stay, reused(4)),
		answers("Proxy-Connection: close", body("Proxy-Connection: close\r\n"), stay, reused(4)),
		answers("Keep-Alive: timeout=0", body("Keep-Alive: timeout=0\r\n"), stay, reused(4)),
		answers("Keep-Alive beyond all digits", body("Keep-Alive: max="+many("9", 100)+", timeout="+many("9", 100)+"\r\n"), stay, reused(4)),
		answers("200 with Upgrade", body("Upgrade: h2c, websocket\r\nConnection: upgrade\r\n"), stay, reused(4)),
		answers("304 with chunks announced", "HTTP/1.1 304 No\r\n"+coded, stay, Want{Status: 304, Reused: true}),
		answers("205 with chunks", "HTTP/1.1 205 No\r\n"+coded+noChunk, stay, Want{Status: 205, Reused: true}),
		answers("421", "HTTP/1.1 421 Misdirected\r\n"+empty, stay, Want{Kind: http1.KindStatus, Status: 421, Reused: true}),
		answers("305 with a location", "HTTP/1.1 305 Use\r\nLocation: http://127.0.0.1:1/\r\n"+empty, stay, Want{Status: 305, Reused: true}),
		answers("4 GiB and nothing", ok+"Content-Length: 4294967296\r\n\r\n", quit, fails(http1.KindTruncated)),
		answers("an answer, a byte, and the end", sized("body")+"H", quit, whole(200, 4)),
		answers("an answer and half of another", sized("body")+sized("evil")[:20], stay, whole(200, 4)),
		answers("no length, and a reset at once", ok+"Connection: close\r\n\r\n", reset, fails(http1.KindReset)),
		answers("the preface of HTTP/2 in an answer", "HTTP/2 200\r\n\r\n", hold, protocol),
		answers("SSH", "SSH-2.0-OpenSSH_9.6\r\n", hold, protocol),
		answers("an RPC of zeros", many("\x00", 100), hold, protocol),
	}
	for i := range all {
		if all[i].Name == "4 GiB and nothing" {
			all[i].Kept = &large
		}
	}
	return append(all, cornersSecure()...)
}

// cornersSecure are those of TLS.
func cornersSecure() []Entry {
	with := func(name string, want Want, change func(*tls.Config)) Entry {
		e := Entry{Name: name, Server: Behaviour{Secure: authority.Secured(change)}, Want: want}
		if !want.Unseen {
			e.Server.Answer = sized("body")
		}
		return e
	}
	junk := func(n int) func(*tls.Config) {
		return func(c *tls.Config) {
			leaf := c.Certificates[0]
			chain := append([][]byte(nil), leaf.Certificate...)
			for size := len(chain[0]); size < n; size += len(leaf.Certificate[0]) {
				chain = append(chain, leaf.Certificate[0])
			}
			leaf.Certificate = chain
			c.Certificates = []tls.Certificate{leaf}
		}
	}
	below2 := func(name, text string) Entry {
		return Entry{Name: name, Server: Behaviour{TLS: true, Answer: ok + "Content-Length: 9\r\n\r\nbody", Then: below(text, hold)}, Want: fails(http1.KindTLS)}
	}
	return []Entry{
		with("HelloRetryRequest", reused(4), func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP521} }),
		with("a client certificate asked for, not demanded", reused(4), func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }),
		with("TLS 1.2 with CBC", reused(4), func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
		}),
		with("no certificate", Want{Kind: http1.KindTLSAlert, Unseen: true}, func(c *tls.Config) {
			c.Certificates, c.GetCertificate = nil, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }
		}),
		with("a chain of 100 KB", reused(4), junk(100_000)),
		with("a chain of 400 KB", Want{Kind: http1.KindTLS, Unseen: true}, junk(400_000)),
		below2("a plain alert amid TLS", "\x15\x03\x03\x00\x02\x02\x28"),
		below2("ChangeCipherSpec behind the handshake", many("\x14\x03\x03\x00\x01\x01", 1000)),
		below2("empty records amid TLS", many("\x17\x03\x03\x00\x00", 1000)),
	}
}

// cornersRedirects are odd locations.
func cornersRedirects() []Entry {
	fail := Want{Kind: http1.KindRedirect, Reused: true}
	one := Want{Status: 200, Body: 4, Reused: true, Hops: 1}
	var all []Entry
	for _, l := range []struct {
		location string
		want     Want
	}{
		{"hop?x=1#y", one},
		{"//HOST/hop", one},
		{"HTTP://HOST/hop", one},
		{"http://user:pw@HOST/hop", one},
		{"  \t/hop\t ", one},
		{"/a/b/../../hop", one},
		{"/hop?" + many("x", 60_000), one},
		{"/hop\xc3\xa4", one},
		{"/hop|^`{}\"<>", one},
		{"/hop\r\nLocation: file:///etc/passwd", one},
		{"http:///hop", fail},
		{"http://", fail},
		{"http:hop", fail},
		{"https:", fail},
		{"http://HOST@/hop", fail},
		{"http://127.0.0.1:0/", fail},
		{"http://127.0.0.1:-1/", fail},
		{"http://127.0.0.1:80:80/", fail},
		{"http://[::1]x/", fail},
		{"http://[127.0.0.1]/", fail},
		{"http://a b/", fail},
		{"http://" + many("a", 300) + "/", fail},
		{"mailto:a@b", fail},
		{"data:,x", fail},
		{"ftp://HOST/", fail},
		{"h2c://HOST/hop", fail},
		{"/hop/" + many("x", 65_475), fail},
		{"http://[::1]:1/", Want{Kind: http1.KindRefused, Reused: true}},
	} {
		redirect := "HTTP/1.1 302 Go\r\nLocation: " + l.location + "\r\n" + empty
		e := answers("a redirect to "+l.location[:min(len(l.location), 40)], "", func(s *Session) bool {
			if s.Path == "/" {
				s.Say(strings.ReplaceAll(redirect, "HOST", s.TCP.LocalAddr().String()))
			} else {
				s.Say(sized("body"))
			}
			return true
		}, l.want)
		e.Ask.Redirects = hopsMost
		all = append(all, e)
	}
	return all
}
