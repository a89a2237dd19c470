package ssh

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/http1"
)

// hosts are the keys that a host may have.
type hosts struct {
	at      string
	keys    []gossh.PublicKey
	revoked []gossh.PublicKey
}

// linesMost bounds the lines of known_hosts.
const linesMost = 100_000

// hostsOf reads the lines of known_hosts that are about a host.
func hostsOf(known []byte, host string, port uint16) (*hosts, error) {
	h := &hosts{at: nameOf(host, port)}
	for i, line := range bytes.Split(known, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if i >= linesMost {
			return nil, &http1.InputError{Field: "host_keys", Value: h.at, Remedy: fmt.Sprintf("give at most %d lines: ssh-keyscan %s lists those of one host", linesMost, host)}
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		marker, names, key, _, _, err := gossh.ParseKnownHosts(append(line[:len(line):len(line)], '\n')) // a copy: what is behind it is the program's
		if err != nil {
			return nil, &http1.InputError{Field: "host_keys", Value: string(line), Remedy: fmt.Sprintf("line %d is none of known_hosts: write host, type and key, as ssh-keyscan does", i+1)}
		}
		if !matches(names, h.at) {
			continue
		}
		switch marker {
		case "":
			h.keys = append(h.keys, key)
		case "revoked":
			h.revoked = append(h.revoked, key)
		}
	}
	if len(h.keys) == 0 {
		return nil, &http1.InputError{Field: "host_keys", Value: h.at, Remedy: fmt.Sprintf("no key stands there for this host: add what ssh-keyscan -p %d %s prints", port, host)}
	}
	return h, nil
}

// nameOf is a host as known_hosts has it.
func nameOf(host string, port uint16) string {
	if host = strings.ToLower(host); port == 22 {
		return host
	}
	return "[" + host + "]:" + strconv.Itoa(int(port))
}

// matches reports whether the names of a line are a host's.
func matches(names []string, at string) bool {
	found := false
	for _, name := range names {
		if strings.HasPrefix(name, "|1|") {
			found = found || hashed(name, at)
			continue
		}
		pattern, negates := strings.CutPrefix(strings.ToLower(name), "!")
		if pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "["), "]:22"); wild(pattern, strings.TrimPrefix(at, "[")) {
			if negates {
				return false
			}
			found = true
		}
	}
	return found
}

// wild reports whether a text is what a pattern says, with * and ?.
func wild(pattern, text string) bool {
	star, from := -1, 0 // behind the last *, and where its rest may begin
	p := 0
	for t := 0; t < len(text); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, from = p, t
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			from++
			p, t = star, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// hashed reports whether a name that is hidden is a host's.
func hashed(name, at string) bool {
	salt, sum, ok := strings.Cut(strings.TrimPrefix(name, "|1|"), "|")
	if !ok {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(salt)
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, key)
	mac.Write([]byte(at))
	want, err := base64.StdEncoding.DecodeString(sum)
	return err == nil && hmac.Equal(want, mac.Sum(nil))
}

// algorithms are those of the keys that the host may have: a server with several chooses one of them.
func (h *hosts) algorithms() (all []string) {
	for _, k := range h.keys {
		own := []string{k.Type()}
		if k.Type() == gossh.KeyAlgoRSA {
			own = []string{gossh.KeyAlgoRSASHA256, gossh.KeyAlgoRSASHA512}
		}
		for _, a := range own {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// check judges the key of a server.
func (h *hosts) check(_ string, _ net.Addr, key gossh.PublicKey) error {
	same := func(one gossh.PublicKey) bool { return bytes.Equal(one.Marshal(), key.Marshal()) }
	if slices.ContainsFunc(h.revoked, same) {
		return &hostError{"the server has a key that known_hosts revokes: " + gossh.FingerprintSHA256(key)}
	}
	if !slices.ContainsFunc(h.keys, same) {
		return &hostError{fmt.Sprintf("the server has another host key than known_hosts says of %s (%s): it was changed, or another machine answers", h.at, gossh.FingerprintSHA256(key))}
	}
	return nil
}

// hostError is a host key that is not the host's.
type hostError struct{ text string }

func (e *hostError) Error() string { return e.text }
