package scram

import (
	"bytes"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// IterationsMost bounds what a server may ask for. Servers ask for 4,096 to 15,000.
const IterationsMost = 100_000

// IterationsLeast is what RFC 5802 and RFC 7677 demand of a server (see AtLeast).
const IterationsLeast = 4096

const saltMost = 1 << 10 // bytes

// What the client says of channel binding. It acts for itself.
const (
	bindsNone    = "n,,"
	bindsUnasked = "y,,"
	bindsPoint   = "p=tls-server-end-point,,"
)

// Client is one authentication.
type Client struct {
	hash     Hash
	least    uint64 // iterations
	cache    *Cache
	password string
	nonce    string
	header   string  // of GS2
	binding  []byte  // what the channel is
	first    string  // what the client says first, without its header
	salted   *salted // nil: the server has not answered
	expects  []byte  // the server's signature
}

// New begins an authentication. Nonce is a text that no other one uses, of letters and digits.
func New(h Hash, user, password, nonce string, cache *Cache) *Client {
	user = strings.NewReplacer("=", "=3D", ",", "=2C").Replace(user)
	return &Client{hash: h, least: 1, cache: cache, password: password, nonce: nonce, header: bindsNone, first: "n=" + user + ",r=" + nonce}
}

// AtLeast refuses a server that asks for fewer iterations, 1 without a call: a cheap proof gives
// its password away. It returns the client.
func (c *Client) AtLeast(iterations int) *Client {
	c.least = uint64(iterations)
	return c
}

// Bind binds the authentication to a channel (see EndPoint), if there is something to bind. Offered says that the
// server offers this, under Plus; a server that could, and whose offer another one has taken out, fails
// the authentication then.
func (c *Client) Bind(point []byte, offered bool) {
	switch {
	case len(point) == 0:
	case offered:
		c.header, c.binding = bindsPoint, point
	default:
		c.header = bindsUnasked
	}
}

// Plus is the mechanism's name with channel binding.
func (h Hash) Plus() string { return h.Mechanism() + "-PLUS" }

// First appends what the client says first.
func (c *Client) First(dst []byte) []byte { return append(append(dst, c.header...), c.first...) }

func breach(format string, values ...any) error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: "SCRAM: " + fmt.Sprintf(format, values...)}
}

// Final appends the proof that answers what the server says first. Not done: the password is not
// salted yet, and a call with the same text goes on.
func (c *Client) Final(dst, server []byte) (out []byte, done bool, err error) {
	text := string(server)
	nonce, salt, count, err := c.challenge(text)
	if err != nil {
		return dst, false, err
	}
	if c.salted == nil {
		c.salted = c.cache.get(recipe{c.hash, c.password, salt, count})
	}
	if !c.salted.work() {
		return dst, false, nil
	}
	bare := "c=" + base64.StdEncoding.EncodeToString(append([]byte(c.header), c.binding...)) + ",r=" + nonce
	signs := []byte(c.first + "," + text + "," + bare)
	client := c.mac(c.salted.sum, []byte("Client Key"))
	stored := c.hash.new()
	stored.Write(client)
	proof := c.mac(stored.Sum(nil), signs)
	subtle.XORBytes(proof, proof, client)
	c.expects = c.mac(c.mac(c.salted.sum, []byte("Server Key")), signs)
	return append(append(dst, bare+",p="...), base64.StdEncoding.EncodeToString(proof)...), true, nil
}

func (c *Client) mac(key, text []byte) []byte {
	m := hmac.New(c.hash.new, key)
	m.Write(text)
	return m.Sum(nil)
}

// challenge reads what the server says first.
func (c *Client) challenge(text string) (nonce, salt string, count int, err error) {
	parts := strings.Split(text, ",")
	if len(parts) < 3 || !strings.HasPrefix(parts[0], "r=") || !strings.HasPrefix(parts[1], "s=") || !strings.HasPrefix(parts[2], "i=") {
		return "", "", 0, breach("the server's challenge has not nonce, salt and count")
	}
	nonce = parts[0][2:]
	raw, wrong := base64.StdEncoding.Strict().DecodeString(parts[1][2:])
	n, bad := strconv.ParseUint(parts[2][2:], 10, 63)
	switch {
	case len(nonce) <= len(c.nonce) || !strings.HasPrefix(nonce, c.nonce):
		return "", "", 0, breach("the server's nonce does not begin with the client's")
	case wrong != nil || len(raw) == 0 || len(raw) > saltMost:
		return "", "", 0, breach("the server's salt is not 1 to %d bytes in base64", saltMost)
	case bad != nil || n == 0:
		return "", "", 0, breach("the server's count of iterations is no number")
	case n < c.least:
		return "", "", 0, breach("the server asks for %d iterations, fewer than %d: the proof would be cheap to guess", n, c.least)
	case n > IterationsMost:
		return "", "", 0, &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("SCRAM: the server asks for %d iterations, more than %d", n, IterationsMost)}
	}
	return nonce, string(raw), int(n), nil
}

// Verify judges what the server says last: it proves that it knows the password, too.
func (c *Client) Verify(server []byte) error {
	first, _, _ := bytes.Cut(server, []byte(","))
	switch {
	case bytes.HasPrefix(first, []byte("e=")):
		return &http1.Error{Kind: http1.KindAuth, Detail: fmt.Sprintf("SCRAM: the server refuses: %.60q", first[2:])}
	case !bytes.HasPrefix(first, []byte("v=")):
		return breach("the server's last message has no signature")
	case c.expects == nil:
		return breach("the server signs before the client has proved the password")
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(string(first[2:]))
	if err != nil || !hmac.Equal(signature, c.expects) {
		return &http1.Error{Kind: http1.KindAuth, Detail: "SCRAM: the server's signature is wrong: it does not know the password"}
	}
	return nil
}
