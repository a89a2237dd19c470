package mysql

import (
	"crypto/sha1" //nolint:gosec // the protocol's own
	"crypto/sha256"
	"crypto/subtle"
)

// The plugins by which a password is proved.
const (
	pluginNative = "mysql_native_password"
	pluginSHA2   = "caching_sha2_password"
	pluginClear  = "mysql_clear_password"

	plugins = pluginNative + ", " + pluginSHA2 + " and, under TLS, " + pluginClear
)

func known(plugin string) bool {
	return plugin == pluginNative || plugin == pluginSHA2 || plugin == pluginClear
}

// prove is the first proof of the plugin under way. Without a password it is empty.
func (g *Greeting) prove() ([]byte, error) {
	c := &g.protocol.config
	switch {
	case c.Password == "":
		return nil, nil
	case g.plugin == pluginClear && g.secure != securityStands:
		return nil, refusal("the server asks for the password in clear, and there is no TLS: write sslmode = \"verify-full\" in sql.client")
	case g.plugin == pluginClear:
		return append([]byte(c.Password), 0), nil
	case len(g.salt) != saltLength:
		return nil, breach("the server's salt has %d bytes, and not %d", len(g.salt), saltLength)
	case g.plugin == pluginSHA2:
		return proofSHA2(c.Password, g.salt), nil
	}
	return proofNative(c.Password, g.salt), nil
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
	case g.secure != securityStands:
		return dst, refusal("the server has not the password of %q in its cache, and asks for it in clear: write sslmode = \"verify-full\" in sql.client", c.User)
	}
	return g.answer(dst, append([]byte(c.Password), 0)), nil
}
