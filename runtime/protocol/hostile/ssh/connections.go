package ssh

import (
	"errors"
	"io"
	"net"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
)

// waits says something, and then nothing.
func waits(said string) func(*net.TCPConn, <-chan struct{}) {
	return func(c *net.TCPConn, wait <-chan struct{}) {
		_, _ = io.WriteString(c, said)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		<-wait
	}
}

// ends says something, and closes.
func ends(said string) func(*net.TCPConn, <-chan struct{}) {
	return func(c *net.TCPConn, _ <-chan struct{}) {
		_, _ = io.WriteString(c, said)
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, io.LimitReader(c, 1<<20))
	}
}

func resets(c *net.TCPConn, _ <-chan struct{}) {
	_, _ = c.Read(make([]byte, 100)) // the client's version
	_ = c.SetLinger(0)
}

func dribbles(c *net.TCPConn, wait <-chan struct{}) {
	for {
		if _, err := io.WriteString(c, "S"); err != nil {
			return
		}
		select {
		case <-wait:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var errMethods = errors.New("refused")

// connections are behaviours before the first packet of SFTP.
func connections() []Entry {
	accept := func(name string, want http1.Kind, late bool, b func(*net.TCPConn, <-chan struct{})) Entry {
		return Entry{Name: name, Verb: Get, Server: Behaviour{Accept: b}, Want: want, Late: late}
	}
	return []Entry{
		{Name: "well-behaved", Verb: Get, Reuse: true},
		{Name: "well-behaved listing", Verb: List, Reuse: true},
		{Name: "well-behaved put", Verb: Put, Reuse: true},
		{Name: "well-behaved scp", Verb: CopyGet, Reuse: true},
		{Name: "well-behaved scp put", Verb: CopyPut, Reuse: true},
		accept("accepts and says nothing", http1.KindConnectTimeout, true, waits("")),
		accept("closes at once", http1.KindClosed, false, ends("")),
		accept("closes behind its version", http1.KindClosed, false, ends("SSH-2.0-hostile\r\n")),
		accept("closes in the middle of a packet", http1.KindClosed, false, ends("SSH-2.0-hostile\r\n\x00\x00\x01\x00\x05\x14")),
		accept("resets", http1.KindReset, false, resets),
		accept("a byte now and then", http1.KindConnectTimeout, true, dribbles),
		{Name: "a banner of 1 MiB", Verb: Get, Server: Behaviour{Accept: waits(strings.Repeat("banner\r\n", 1<<17))}, Want: http1.KindTooLarge, Or: http1.KindProtocol},
		accept("a line without an end", http1.KindProtocol, false, waits(strings.Repeat("x", 60<<10))),
		accept("HTTP on the port", http1.KindProtocol, false, waits("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"+strings.Repeat("x", 300))),
		accept("a packet of 2^31-1 bytes", http1.KindProtocol, false, waits("SSH-2.0-hostile\r\n\x7f\xff\xff\xff\x05\x14"+strings.Repeat("x", 300))),
		accept("SSH 1", http1.KindConnectTimeout, true, waits("SSH-1.5-old\r\n")),
		{Name: "another host key", Verb: Get, Server: Behaviour{OtherKey: true}, Want: http1.KindAuth},
		// Both ends find it out; a server that is faster closes before the client has read its offer.
		{Name: "no common algorithm", Verb: Get, Server: Behaviour{Config: func(c *gossh.ServerConfig) { c.Ciphers = []string{"aes128-cbc"} }}, Want: http1.KindProtocol, Or: http1.KindClosed},
		{Name: "refuses the user", Verb: Get, Server: Behaviour{Config: func(c *gossh.ServerConfig) {
			c.PasswordCallback = func(gossh.ConnMetadata, []byte) (*gossh.Permissions, error) { return nil, errMethods }
		}}, Want: http1.KindAuth},
		{Name: "asks for the password", Verb: Get, Reuse: true, Server: Behaviour{Config: func(c *gossh.ServerConfig) {
			c.PasswordCallback = nil
			c.KeyboardInteractiveCallback = func(_ gossh.ConnMetadata, ask gossh.KeyboardInteractiveChallenge) (*gossh.Permissions, error) {
				a, err := ask("", "", []string{"Password: "}, []bool{false})
				if err != nil || len(a) != 1 || a[0] != Password {
					return nil, errMethods
				}
				return nil, nil
			}
		}}},
		{Name: "asks for more", Verb: Get, Want: http1.KindAuth, Server: Behaviour{Config: func(c *gossh.ServerConfig) {
			c.PasswordCallback = nil
			c.KeyboardInteractiveCallback = func(_ gossh.ConnMetadata, ask gossh.KeyboardInteractiveChallenge) (*gossh.Permissions, error) {
				_, err := ask("", "", []string{"Password: ", "Colour: "}, []bool{false, true})
				return nil, errors.Join(errMethods, err)
			}
		}}},
		{Name: "refuses the channel", Verb: Get, Server: Behaviour{Channel: func(n gossh.NewChannel) bool { return n.Reject(gossh.ResourceShortage, "MaxSessions") == nil }}, Want: "server RESOURCE_SHORTAGE"},
		{Name: "has no subsystem", Verb: Get, Server: Behaviour{Refuses: true}, Want: "server SUBSYSTEM"},
		{Name: "runs no command", Verb: CopyGet, Reuse: true, Server: Behaviour{Refuses: true}, Want: "server EXEC"},
		{Name: "refuses the channel of scp", Verb: CopyGet, Reuse: true, Server: Behaviour{Channel: func(n gossh.NewChannel) bool { return n.Reject(gossh.Prohibited, "no\nshell") == nil }}, Want: "server PROHIBITED"},
	}
}
