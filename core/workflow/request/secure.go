package request

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

func tlsVersions() []string { return []string{"1.0", "1.1", "1.2", "1.3"} }

// tlsCiphers lists the suites of TLS 1.2 and below of the library, which cannot choose those of
// TLS 1.3.
func tlsCiphers() []string {
	return []string{
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
		"TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_RSA_WITH_AES_256_CBC_SHA",
	}
}

// Bounds of the arguments of tls().
const (
	certificateMax = 64 << 10
	authoritiesMax = 1 << 20
)

// NewTLS returns the value of tls().
func NewTLS(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "tls"
	var in [9]starlark.Value
	if err := language.Bind(fn, []string{"verify", "min_version", "max_version", "ciphers", "certificate", "key", "ca", "server_name", "resume"}, 0, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	t := &tlsValue{Opaque: language.Opaque{Kind: fn}}
	o := &t.options
	var err error
	if t.verify, err = builtin.Flag(fn, "verify", in[0], true); err != nil {
		return nil, err
	}
	if o.Resume, err = builtin.Flag(fn, "resume", in[8], false); err != nil {
		return nil, err
	}
	if err := o.versions(fn, in[1], in[2]); err != nil {
		return nil, err
	}
	if err := o.suites(fn, in[3]); err != nil {
		return nil, err
	}
	if err := o.identity(fn, in[4], in[5]); err != nil {
		return nil, err
	}
	t.key, _ = in[5].(*secret.Text)
	if in[6] != nil {
		text, err := builtin.Content(fn, "ca", in[6], authoritiesMax)
		if err != nil {
			return nil, err
		}
		if _, err := certificates(fn, "ca", text); err != nil {
			return nil, err
		}
		o.CA = []byte(text)
	}
	if in[7] != nil {
		name, err := builtin.Content(fn, "server_name", in[7], 253)
		if err != nil {
			return nil, err
		}
		if name == "" || strings.ContainsAny(name, "/: \r\n\x00") {
			return nil, language.Faultf("tls: server_name = %q is no host's name", name).In("server_name").Do("write it without scheme and port")
		}
		o.ServerName = name
	}
	return t, nil
}

func (o *TLS) versions(fn string, low, high starlark.Value) (err error) {
	for _, one := range []struct {
		name string
		v    starlark.Value
		to   *string
	}{{"min_version", low, &o.MinVersion}, {"max_version", high, &o.MaxVersion}} {
		if one.v == nil {
			continue
		}
		if *one.to, err = builtin.OneOf(fn, one.name, one.v, tlsVersions()); err != nil {
			return err
		}
	}
	if o.MinVersion != "" && o.MaxVersion != "" && o.MinVersion > o.MaxVersion {
		return language.Faultf("tls: min_version = %q is above max_version = %q", o.MinVersion, o.MaxVersion).In("min_version").Do("swap them")
	}
	return nil
}

func (o *TLS) suites(fn string, v starlark.Value) (err error) {
	if o.Ciphers, err = language.Names(fn, "ciphers", "cipher suites", v); err != nil {
		return err
	}
	for i, c := range o.Ciphers {
		if !slices.Contains(tlsCiphers(), c) {
			return language.Faultf("tls: ciphers has %q in it", language.Clip(c, 60)).In("ciphers").At(i).Meant(c, tlsCiphers())
		}
	}
	if len(o.Ciphers) > 0 && o.MinVersion == "1.3" {
		return language.Faultf("tls: ciphers are chosen for TLS 1.2 and below, and min_version is \"1.3\"").In("ciphers").Do("take ciphers out, or min_version")
	}
	if len(o.Ciphers) > 0 && o.MaxVersion == "" {
		o.MaxVersion = "1.2" // 1.3 would choose its own
	}
	return nil
}

// identity reads the client's certificate and its key, and checks that they belong together.
func (o *TLS) identity(fn string, certificate, key starlark.Value) error {
	switch {
	case certificate == nil && key == nil:
		return nil
	case certificate == nil:
		return language.Faultf("tls has a key and no certificate").In("key").Do("add certificate = file(\"client.pem\")")
	case key == nil:
		return language.Faultf("tls has a certificate and no key").In("certificate").Do("add key = file(\"client.key\")")
	}
	text, err := builtin.Content(fn, "certificate", certificate, certificateMax)
	if err != nil {
		return err
	}
	if _, err := certificates(fn, "certificate", text); err != nil {
		return err
	}
	o.Certificate = []byte(text)
	if hidden, ok := key.(*secret.Text); ok { // Reveal checks it
		word, err := hidden.Sent()
		o.Key = []byte(word)
		return err
	}
	own, err := builtin.Content(fn, "key", key, certificateMax)
	if err != nil {
		return err
	}
	o.Key = []byte(own)
	return o.belongs()
}

// belongs checks that the key is that of the first certificate.
func (o *TLS) belongs() error {
	chain, err := certificates("tls", "certificate", string(o.Certificate))
	if err != nil {
		return err
	}
	public, err := publicOf(string(o.Key))
	if err != nil {
		return err
	}
	if own, ok := chain[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !own.Equal(public) {
		return language.Faultf("tls: the key does not belong to the first certificate").In("key").Do("give the key that the certificate was made with, and the client's own certificate before those of its authorities")
	}
	return nil
}

func certificates(fn, argument, text string) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, language.Faultf("%s: %s holds a certificate that cannot be read: %v", fn, argument, err).In(argument)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, language.Faultf("%s: %s holds no certificate", fn, argument).In(argument).Do("give a PEM text with BEGIN CERTIFICATE in it, such as %s = file(\"%s.pem\")", argument, argument)
	}
	return all, nil
}

// publicOf parses a private key and returns its public part.
func publicOf(text string) (crypto.PublicKey, error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, language.Faultf("tls: key holds no private key").In("key").Do("give a PEM text with BEGIN PRIVATE KEY in it")
		}
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, language.Faultf("tls: key is encrypted").In("key").Do("decrypt it first: openssl pkey -in key.pem")
		default:
			continue
		}
		signer, ok := key.(crypto.Signer)
		if err != nil || !ok {
			return nil, language.Faultf("tls: key holds a private key that cannot be read").In("key")
		}
		return signer.Public(), nil
	}
}

// publicKeyMost bounds a public key's text, in bytes.
const publicKeyMost = 16 << 10

// sqlPublicKey reads the key of a server, under which a password goes where there is no TLS.
func sqlPublicKey(fn string, mysql bool, given starlark.Value) (string, error) {
	const remedy = "give the server's public_key.pem, a PEM text with BEGIN PUBLIC KEY in it: public_key = file(\"public_key.pem\")"
	if !mysql {
		return "", language.Faultf("%s: public_key is of MySQL", fn).In("public_key").Do("take it out: PostgreSQL has scram-sha-256")
	}
	text, err := builtin.Content(fn, "public_key", given, publicKeyMost)
	if err != nil {
		return "", err
	}
	if _, err := RSAKey(text); err != nil {
		return "", language.Faultf("%s: public_key %v", fn, err).In("public_key").Do("%s", remedy)
	}
	return text, nil
}

// RSAKey reads a public key from a PEM text.
func RSAKey(text string) (*rsa.PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("holds no public key")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	of, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("holds a key that is not of RSA")
	}
	return of, nil
}

// SQLSecurity says how connections to a database are secured.
type SQLSecurity uint8

// The choices: sslmode's.
const (
	SQLPlain     SQLSecurity = iota // in clear
	SQLEncrypted                    // TLS with any certificate
	SQLAuthority                    // its certificate is signed by an authority
	SQLVerified                     // and has its name
)

func sqlSecurities() []string { return []string{"disable", "require", "verify-ca", "verify-full"} }

// SQLSecure is how the connections of a client are secured.
type SQLSecure struct {
	Mode   SQLSecurity
	TLS    *TLS   // nil: that of the workflow's http.client
	Key    string // tells apart what differs
	Direct bool   // TLS begins at once, and the server must choose the protocol postgresql by ALPN
}

// sqlWords are what a URL says of TLS, as PostgreSQL's own library reads them.
type sqlWords struct {
	rest   starlark.Value // the URL without them
	mode   starlark.Value // of sslmode; nil: it has none
	direct bool           // sslnegotiation=direct
}

// sqlWordsOf takes sslmode and sslnegotiation out of a URL. A URL with another word is left as it is. Mode is that
// beside the URL; nil: there is none.
func sqlWordsOf(fn string, url, mode starlark.Value) (words sqlWords, err error) {
	as := sqlWords{rest: url, mode: mode}
	text, _ := url.(starlark.String)
	address, query, _ := strings.Cut(string(text), "?")
	if query == "" {
		return as, nil
	}
	begins := ""
	for _, pair := range strings.Split(query, "&") {
		name, word, _ := strings.Cut(pair, "=")
		switch {
		case name == "sslmode" && words.mode == nil:
			words.mode = starlark.String(word)
		case name == "sslnegotiation" && begins == "":
			begins = word
			if words.direct = word == "direct"; !words.direct && word != "postgres" {
				return as, language.Faultf("%s: sslnegotiation=%s in the URL is none", fn, language.Clip(word, 40)).In("url").Do("write direct, or postgres, which is PostgreSQL's own question for TLS")
			}
		default:
			return as, nil
		}
	}
	words.rest = starlark.String(address)
	switch {
	case words.mode != nil && mode != nil:
		return as, language.Faultf("%s has sslmode in its URL and in sslmode", fn).In("sslmode").Do("keep one of them")
	case words.mode == nil:
		words.mode = mode
	}
	return words, nil
}

// secures reads sslmode and tls.
func (s *SQLSecure) secures(fn string, mode, options starlark.Value) error {
	word, chosen := "", mode != nil
	if chosen {
		text, ok := mode.(starlark.String)
		at := slices.Index(sqlSecurities(), string(text))
		switch {
		case !ok:
			return language.WrongType(fn, "sslmode", "a text", mode)
		case text == "allow" || text == "prefer":
			return language.Faultf("%s: sslmode = %q lets the server choose, and a test says what it measures", fn, string(text)).In("sslmode").Do("write \"require\" for TLS, or \"disable\"")
		case at < 0:
			return language.Faultf("%s: sslmode = %q is none", fn, language.Clip(string(text), 40)).In("sslmode").Meant(string(text), sqlSecurities())
		}
		word, s.Mode = string(text), SQLSecurity(at)
	}
	if options == nil {
		return nil
	}
	t, ok := options.(*tlsValue)
	switch {
	case !ok:
		return language.WrongType(fn, "tls", "tls(ca = file(\"ca.pem\"))", options)
	case chosen && s.Mode == SQLPlain:
		return language.Faultf("%s has tls, and sslmode = \"disable\"", fn).In("sslmode").Do("take one of them out")
	case chosen && s.Mode > SQLEncrypted && !t.verify:
		return language.Faultf("%s has tls(verify = False), and sslmode = %q verifies", fn, word).In("sslmode").Do("write \"require\", or take verify out")
	case !chosen && t.verify:
		s.Mode = SQLVerified
	case !chosen:
		s.Mode = SQLEncrypted
	}
	own := t.options
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{own.MinVersion, own.MaxVersion, strings.Join(own.Ciphers, " "), string(own.Certificate), string(own.CA), own.ServerName, fmt.Sprint(own.Resume)}))
	s.TLS, s.Key = &own, hex.EncodeToString(sum[:])
	return nil
}

// begins says that TLS begins without a question for it.
func (s *SQLSecure) begins(fn string, mysql bool) error {
	switch {
	case mysql:
		return language.Faultf("%s: sslnegotiation is of PostgreSQL", fn).In("url").Do("take it out: MySQL begins TLS in its own words")
	case s.Mode == SQLPlain:
		return language.Faultf("%s has sslnegotiation=direct in its URL, and no TLS", fn).In("url").Do("write sslmode=verify-full before it, or sslmode=require")
	}
	s.Direct, s.Key = true, "direct "+s.Key
	return nil
}

// revealed returns the same with a key that is a secret.
func (s SQLSecure) revealed(fill func(string) string) (SQLSecure, error) {
	if s.TLS == nil || len(s.TLS.Key) == 0 {
		return s, nil
	}
	own := *s.TLS
	own.Key = []byte(fill(string(own.Key)))
	s.TLS = &own
	return s, own.belongs()
}

// SentKey puts the key of a function's client in place: then a secret has its value.
func (s *SQLSecure) SentKey(hidden *secret.Text) error {
	if hidden == nil {
		return nil
	}
	text, err := hidden.Sent()
	own := *s.TLS
	own.Key = []byte(text)
	s.TLS = &own
	return err
}

// Options reads tls of a client whose URL says that its connections have TLS. The key, if it is a secret,
// goes to SentKey.
func (s *SQLSecure) Options(fn string, options starlark.Value) (key *secret.Text, err error) {
	if t, ok := options.(*tlsValue); ok {
		key = t.key
	}
	return key, s.secures(fn, nil, options)
}
