package resolve

import (
	"bytes"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// Bounds of a configuration.
const (
	serversMax = 8
	searchMax  = 16
	fileMax    = 1 << 20
)

// Config says whom to ask, and for what.
type Config struct {
	Servers  []netip.AddrPort
	Search   []string      // domains, without dots at their ends
	Dots     int           // a name with as many is tried as it stands first
	Timeout  time.Duration // of one query
	Attempts int           // rounds over all servers
	Rotate   bool          // begin at another server each time
}

// ParseConfig reads a resolv.conf. What it cannot read it leaves out, as the system does.
func ParseConfig(text []byte) Config {
	c := Config{Dots: 1, Timeout: 5 * time.Second, Attempts: 2}
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) < 2 || words[0][0] == '#' || words[0][0] == ';' {
			continue
		}
		switch words[0] {
		case "nameserver":
			if a, err := netip.ParseAddr(words[1]); err == nil && len(c.Servers) < serversMax {
				c.Servers = append(c.Servers, netip.AddrPortFrom(a, 53))
			}
		case "domain":
			c.Search = search(words[1:2])
		case "search":
			c.Search = search(words[1:])
		case "options":
			for _, o := range words[1:] {
				c.option(o)
			}
		}
	}
	if len(c.Servers) == 0 {
		c.Servers = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53"), netip.MustParseAddrPort("[::1]:53")}
	}
	return c
}

func search(words []string) (domains []string) {
	for _, w := range words {
		if w = strings.Trim(w, "."); isName(w) && len(domains) < searchMax {
			domains = append(domains, w)
		}
	}
	return domains
}

func (c *Config) option(o string) {
	name, value, _ := strings.Cut(o, ":")
	n, err := strconv.Atoi(value)
	switch {
	case o == "rotate":
		c.Rotate = true
	case err != nil || n < 0:
	case name == "ndots":
		c.Dots = min(n, 15)
	case name == "timeout":
		c.Timeout = time.Duration(min(max(n, 1), 30)) * time.Second
	case name == "attempts":
		c.Attempts = min(max(n, 1), 5)
	}
}

// System reads /etc/resolv.conf; a machine without it asks itself.
func System() Config { return ParseConfig(read("/etc/resolv.conf")) }

// read returns a file, empty if there is none.
func read(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text := make([]byte, fileMax)
	n := 0
	for n < len(text) {
		k, err := f.Read(text[n:])
		if n += k; err != nil {
			break
		}
	}
	return text[:n]
}

// isName accepts names that a resolver can look up: labels of 1 to 63 bytes, 253 together.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
