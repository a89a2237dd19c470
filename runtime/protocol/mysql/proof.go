package mysql

import (
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the protocol's own
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// The plugins by which a password is proved.
const (
	pluginNative  = "mysql_native_password"
	pluginSHA2    = "caching_sha2_password"
	pluginSHA256  = "sha256_password"
	pluginEd25519 = "client_ed25519"
	pluginClear   = "mysql_clear_password"

	plugins = pluginNative + ", " + pluginSHA2 + ", " + pluginEd25519 + ", " + pluginSHA256 + " under TLS or with a public key, and " + pluginClear + " under TLS"
)

// known reports whether a password can be proved that way.
func known(plugin string) bool {
	return introduces(plugin) || plugin == pluginSHA256 || plugin == pluginEd25519 || plugin == pluginClear
}

// introduces reports whether a proof of the plugin can stand in the introduction: for others the server has
// to ask, with a salt of their own or in TLS.
func introduces(plugin string) bool { return plugin == pluginNative || plugin == pluginSHA2 }

// prove is the first proof of the plugin under way. Without a password it is empty.
func (g *Greeting) prove() ([]byte, error) {
	c := &g.protocol.config
	switch {
	case c.Password == "" && g.plugin == pluginSHA256:
		return []byte{0}, nil
	case c.Password == "" && g.plugin != pluginEd25519:
		return nil, nil
	case g.plugin == pluginClear && g.secure != securityStands:
		return nil, refusal("the server asks for the password in clear, and there is no TLS: write sslmode = \"verify-full\" in sql.client")
	case g.plugin == pluginClear:
		return append([]byte(c.Password), 0), nil
	case g.plugin == pluginEd25519 && len(g.salt) != saltEd25519:
		return nil, breach("the server's salt has %d bytes, and not %d", len(g.salt), saltEd25519)
	case g.plugin == pluginEd25519:
		return g.protocol.signs().sign(g.salt), nil
	case len(g.salt) != saltLength:
		return nil, breach("the server's salt has %d bytes, and not %d", len(g.salt), saltLength)
	case g.plugin == pluginSHA2:
		return proofSHA2(c.Password, g.salt), nil
	case g.plugin == pluginSHA256:
		return g.whole("the server asks for the password itself")
	}
	return proofNative(c.Password, g.salt), nil
}

const saltEd25519 = 32

// whole is the password itself: in TLS, or under the server's public key. Why names the reason, for the error.
func (g *Greeting) whole(why string) ([]byte, error) {
	c := &g.protocol.config
	text := append([]byte(c.Password), 0)
	switch {
	case g.secure == securityStands:
		return text, nil
	case c.Key == nil:
		return nil, refusal("%s, and there is no TLS: write sslmode = \"verify-full\" in sql.client, or public_key = file(\"public_key.pem\")", why)
	}
	for i := range text {
		text[i] ^= g.salt[i%len(g.salt)]
	}
	out, err := rsa.EncryptOAEP(sha1.New(), c.Random, c.Key, text, nil) //nolint:gosec // the protocol's own
	if err != nil {
		return nil, refusal("the password does not go under the public key: %v", err)
	}
	return out, nil
}

// proofNative is SHA1(password) XOR SHA1(salt, SHA1(SHA1(password))).
func proofNative(password string, salt []byte) []byte {
	once := sha1.Sum([]byte(password)) //nolint:gosec // the protocol's own
	twice := sha1.Sum(once[:])         //nolint:gosec // the protocol's own
	mask := sha1.Sum(append(append([]byte(nil), salt...), twice[:]...))
	out := make([]byte, sha1.Size)
	subtle.XORBytes(out, once[:], mask[:])
	return out
}

// proofSHA2 is SHA256(password) XOR SHA256(SHA256(SHA256(password)), salt).
func proofSHA2(password string, salt []byte) []byte {
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	mask := sha256.Sum256(append(twice[:], salt...))
	out := make([]byte, sha256.Size)
	subtle.XORBytes(out, once[:], mask[:])
	return out
}

// The words of caching_sha2_password.
const (
	sha2Known   = 3 // the server has the password in its cache, and takes the proof
	sha2Unknown = 4 // it wants the password itself
)

// more takes a word of a proof that has several.
func (g *Greeting) more(dst, b []byte) ([]byte, error) {
	c := &g.protocol.config
	if g.plugin != pluginSHA2 || len(b) != 1 || b[0] != sha2Known && b[0] != sha2Unknown {
		return dst, breach("the server says more about %.80s, which the protocol has not", g.plugin)
	}
	g.admitted = true
	switch {
	case b[0] == sha2Known:
		return dst, nil
	case c.Password == "":
		return dst, refusal("the server asks for a password: give password = secret(...) to sql.client")
	}
	text, err := g.whole(fmt.Sprintf("the server has not the password of %q in its cache, and asks for it", c.User))
	if err != nil {
		return dst, err
	}
	return g.answer(dst, text), nil
}
