package ssh

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/ssh/sshtest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island"
)

// Lines of known_hosts are those of a host by their names, patterns and hashes.
func TestHosts(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	for _, tt := range []struct {
		known, host string
		port        uint16
		keys        int // below 0: an error
	}{
		{"h " + key, "h", 22, 1},
		{"H " + key, "h", 22, 1},
		{"h " + key, "H", 22, 1},
		{"h " + key, "h", 2222, -1},
		{"[h]:2222 " + key, "h", 2222, 1},
		{"[h]:22 " + key, "h", 22, 1},
		{"a,b,h " + key + " comment", "h", 22, 1},
		{"*.x.test " + key, "a.x.test", 22, 1},
		{"*.x.test,!a.x.test " + key, "a.x.test", 22, -1},
		{"h? " + key, "h1", 22, 1},
		{"h? " + key, "h", 22, -1},
		{"* " + key, "h", 2222, 1},
		{"# h " + key + "\n\n  h " + key, "h", 22, 1},
		{"@cert-authority h " + key, "h", 22, -1},
		{"@revoked h " + key, "h", 22, -1},
		{"|1|bm9uZQ==|bm9uZQ== " + key, "h", 22, -1},
		{"|1|!|bm9uZQ== " + key, "h", 22, -1},
		{"h ssh-ed25519 none", "h", 22, -1},
		{"other " + key, "h", 22, -1},
		{"", "h", 22, -1},
	} {
		h, err := hostsOf([]byte(tt.known), tt.host, tt.port)
		var wrong *http1.InputError
		switch {
		case tt.keys < 0 && !errors.As(err, &wrong):
			t.Errorf("%q of %s:%d: no error", tt.known, tt.host, tt.port)
		case tt.keys >= 0 && (err != nil || len(h.keys) != tt.keys):
			t.Errorf("%q of %s:%d: %v", tt.known, tt.host, tt.port, err)
		}
	}
}

// A pattern matches what a dumb twin, which tries each way, says.
func TestPatterns(t *testing.T) {
	var twin func(p, s string) bool
	twin = func(p, s string) bool {
		switch {
		case p == "":
			return s == ""
		case p[0] == '*':
			return twin(p[1:], s) || s != "" && twin(p, s[1:])
		}
		return s != "" && (p[0] == '?' || p[0] == s[0]) && twin(p[1:], s[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		p, s := rapid.StringMatching(`[ab*?]{0,8}`).Draw(t, "pattern"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "text")
		if wild(p, s) != twin(p, s) {
			t.Fatalf("%q matches %q: %v", p, s, wild(p, s))
		}
	})
}

// Keys that are none are errors that name the argument, and show nothing of the key.
func TestKeysThatAreNone(t *testing.T) {
	for _, key := range []string{"secret", "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----"} {
		_, err := New(Config{Host: "h", Port: 22, User: "app", Key: []byte(key)})
		var wrong *http1.InputError
		if !errors.As(err, &wrong) || wrong.Field != "key" || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
}

// Only the file that was asked for comes: another name, and a path in place of a name, break the protocol.
func TestHeaders(t *testing.T) {
	for said, want := range map[string]int64{
		"C0644 4 next\n": 4, "C0600 0 next\n": 0, "C0644 4 passwd\n": -1, "C0644 4 ../next\n": -1, "C0644 4 /etc/next\n": -1, "C0644 4 next \n": -1,
		"C0644 -4 next\n": -1, "C0644 4\n": -1, "C644 4 next\n": -1, "D0755 0 next\n": -1, "T0 0 0 0\n": -1, "\x01no\n": -1, "C0644 4 next": -1, "": -1,
	} {
		c := &command{in: bufio.NewReaderSize(strings.NewReader(said), lineMost)}
		if size, err := c.header("next"); (err == nil) != (want >= 0) || err == nil && size != want {
			t.Errorf("%q is a file of %d bytes: %v", said, size, err)
		}
	}
}

// What scp says before a file is read within its bounds, and no panic ends it.
// Whatever stands in known_hosts is keys or an error that names the setting, and stays as it is: the bytes are a
// program's, which others read.
func FuzzHosts(f *testing.F) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	for _, seed := range []string{"h " + key, "h,*.x,!y " + key + " \r\n# a\n\n", "@revoked [h]:2222 " + key, "|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= " + key, "h ssh-rsa AAAA", "|1|| " + key} {
		f.Add([]byte(seed), "h", uint16(22))
	}
	f.Fuzz(func(t *testing.T, known []byte, host string, port uint16) {
		all := append(bytes.Clone(known), "behind"...)
		h, err := hostsOf(all[:len(known)], host, port)
		var wrong *http1.InputError
		switch {
		case string(all) != string(known)+"behind":
			t.Errorf("it became %q, want %q", all, known)
		case err != nil && (!errors.As(err, &wrong) || wrong.Field != "host_keys"):
			t.Errorf("%v", err)
		case err == nil && len(h.keys) == 0:
			t.Error("no key, and no error")
		}
	})
}

func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"C0644 4 next\n", "D0755 0 next\n", "\x01no\n", "\x02full\n", "T0 0 0 0\n", "C0644 -1 next\n", "C0644 4 a b\n", "C", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		c := &command{in: bufio.NewReaderSize(strings.NewReader(said), lineMost)}
		size, err := c.header("next")
		if err == nil && (size < 0 || !strings.HasPrefix(said, "C") || !strings.Contains(said, " next\n")) {
			t.Errorf("%q is a file of %d bytes", said, size)
		}
		var known *http1.Error
		if err != nil && !errors.As(err, &known) && !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", said, err)
		}
	})
}

// A path is one word of a shell, whatever stands in it.
func TestQuoted(t *testing.T) {
	for _, p := range []string{"a", "it's", "a b", "$(x)", "`x`", "'", "''", "-f", "*", "\\"} {
		if got := unquoted(t, quoted(p)); got != p {
			t.Errorf("%q is %q", p, got)
		}
	}
}

// unquoted reads a word as a shell does, which has no other quotes than ' in it.
func unquoted(t *testing.T, word string) string {
	var out strings.Builder
	for quotes := false; word != ""; word = word[1:] {
		switch {
		case word[0] == '\'':
			quotes = !quotes
		case word[0] == '\\' && !quotes:
			word = word[1:]
			out.WriteByte(word[0])
		case !quotes:
			t.Fatalf("%q stands outside quotes", word)
		default:
			out.WriteByte(word[0])
		}
	}
	return out.String()
}

// The algorithms of a host are those of its keys: an RSA key signs by SHA-2.
func TestAlgorithms(t *testing.T) {
	s := sshtest.Keys()
	h, err := hostsOf([]byte("h "+s["host_rsa"]+"h "+s["host_ed25519"]), "h", 22)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(h.algorithms(), " "); got != gossh.KeyAlgoRSASHA256+" "+gossh.KeyAlgoRSASHA512+" "+gossh.KeyAlgoED25519 {
		t.Error(got)
	}
}

func idle() *Conn {
	shore := island.New(func() {}).Shore(1)
	return &Conn{link: &link{shore: shore, stream: island.NewStream(shore, "peer"), protocol: &Protocol{}}}
}

// SSH-3: what comes between two operations is bounded, and a connection that has ended carries no other.
func TestIdleConnections(t *testing.T) {
	c := idle()
	var err error
	fed := 0
	for ; err == nil && fed < 1<<20; fed += 64 << 10 {
		err = c.Feed(make([]byte, 64<<10), nil)
	}
	if err == nil || fed > island.StreamUnread+64<<10 {
		t.Errorf("it takes %d bytes that nothing reads: %v", fed, err)
	}
	if c = idle(); c.Over() {
		t.Error("it is over before its end")
	}
	if _ = c.End(io.EOF); !c.Over() {
		t.Error("it is not over, and its server has closed it")
	}
}

// deaf is a listener that drops what it hears.
type deaf struct{ codec.Listener }

func (deaf) Message(codec.MessageKind, []byte) {}

// A put whose data the library never read is not sent, and the connection goes on.
func TestRefusedPutsAreNotSent(t *testing.T) {
	for _, read := range []bool{false, true} {
		c := idle()
		c.busy, c.task = true, task{verb: VerbPut, data: []byte("data")}
		c.link.result = &Outcome{Err: refused("no")}
		c.link.read.Store(read)
		if err := c.Stir(deaf{}); err != nil || c.Owes() == read || !c.Learnt() || c.Over() {
			t.Errorf("data that is read (%v): it owes %v and has learnt %v: %v", read, c.Owes(), c.Learnt(), err)
		}
	}
}
