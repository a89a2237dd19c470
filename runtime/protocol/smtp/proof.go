package smtp

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // CRAM-MD5's own
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// commandMost is how many bytes a command has at most, with its end: RFC 5321, 4.5.3.1.4.
const commandMost = 512

// roundsMost is how often a server may ask for more than its mechanism has.
const roundsMost = 4

// prove begins to prove the user.
func (g *Greeting) prove(dst []byte) ([]byte, error) {
	c := &g.protocol.config
	name := c.Mechanism.String()
	if !slices.Contains(g.said.mechanisms, name) {
		offered := "none"
		if len(g.said.mechanisms) > 0 {
			offered = reply.Clip([]byte(strings.Join(g.said.mechanisms, " ")))
		}
		return dst, &http1.Error{Kind: http1.KindAuth, Detail: fmt.Sprintf("the server offers %s to prove a user, and not %s", offered, name)}
	}
	g.stage = stageProof
	dst = append(append(dst, "AUTH "...), name...)
	if first := c.first(); first != "" && len("AUTH ")+len(name)+1+base64.StdEncoding.EncodedLen(len(first))+2 <= commandMost {
		g.rounds++
		dst = base64.StdEncoding.AppendEncode(append(dst, ' '), []byte(first))
	}
	return append(dst, "\r\n"...), nil
}

// first is what a mechanism says without being asked; empty: nothing.
func (c *Config) first() string {
	switch c.Mechanism {
	case MechanismPlain:
		return "\x00" + c.User + "\x00" + c.Secret
	case MechanismToken:
		return "user=" + c.User + "\x01auth=Bearer " + c.Secret + "\x01\x01"
	}
	return ""
}

// proves takes the server's answer to what proves the user, and reports whether it is proved.
func (g *Greeting) proves(dst []byte, r *reply.Reply) (out []byte, proved bool, err error) {
	c := &g.protocol.config
	switch {
	case r.Code == 235:
		return dst, true, nil
	case r.Code == 334 && g.rounds < roundsMost:
		asked, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(r.Text())))
		if err != nil && c.Mechanism == MechanismCRAM {
			return dst, false, &http1.Error{Kind: http1.KindProtocol, Detail: "AUTH: the server's challenge is no base64"}
		}
		said := g.says(asked)
		g.rounds++
		return append(base64.StdEncoding.AppendEncode(dst, said), "\r\n"...), false, nil
	case r.Code == 334:
		return dst, false, &http1.Error{Kind: http1.KindProtocol, Detail: "AUTH: the server asks for more than " + c.Mechanism.String() + " has"}
	case r.Code/100 == 5:
		return dst, false, &http1.Error{Kind: http1.KindAuth, Detail: r.Refused("AUTH " + c.Mechanism.String()).Detail}
	}
	return dst, false, g.refused(r, "AUTH "+c.Mechanism.String())
}

// says is what a mechanism answers next. XOAUTH2 answers an error with nothing, and the server then says so.
func (g *Greeting) says(asked []byte) []byte {
	c := &g.protocol.config
	switch {
	case c.Mechanism == MechanismCRAM && g.rounds == 0:
		sum := hmac.New(md5.New, []byte(c.Secret))
		_, _ = sum.Write(asked) // a hash accepts everything
		return []byte(c.User + " " + hex.EncodeToString(sum.Sum(nil)))
	case c.Mechanism == MechanismLogin && g.rounds == 0:
		return []byte(c.User)
	case c.Mechanism == MechanismLogin && g.rounds == 1:
		return []byte(c.Secret)
	case g.rounds == 0:
		return []byte(c.first())
	}
	return nil
}
