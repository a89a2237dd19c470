package workflow

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

func tlsVersions() []string { return []string{"1.0", "1.1", "1.2", "1.3"} }

// tlsCiphers are the suites of TLS 1.2 and below that the library can speak. Those of
// TLS 1.3 cannot be chosen there.
func tlsCiphers() []string {
	return []string{
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
		"TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_RSA_WITH_AES_256_CBC_SHA",
	}
}

// Bounds of what tls() reads.
const (
	certificateMax = 64 << 10
	authoritiesMax = 1 << 20
)

// newTLS makes the value of tls().
func newTLS(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "tls"
	var in [9]starlark.Value
	if err := bind(fn, []string{"verify", "min_version", "max_version", "ciphers", "certificate", "key", "ca", "server_name", "resume"}, 0, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	t := &tlsValue{opaque: opaque{fn}}
	o := &t.options
	var err error
	if t.verify, err = flag(fn, "verify", in[0], true); err != nil {
		return nil, err
	}
	if o.Resume, err = flag(fn, "resume", in[8], false); err != nil {
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
	if in[6] != nil {
		text, err := content(fn, "ca", in[6], authoritiesMax)
		if err != nil {
			return nil, err
		}
		if _, err := certificates(fn, "ca", text); err != nil {
			return nil, err
		}
		o.CA = []byte(text)
	}
	if in[7] != nil {
		name, err := content(fn, "server_name", in[7], 253)
		if err != nil {
			return nil, err
		}
		if name == "" || strings.ContainsAny(name, "/: \r\n\x00") {
			return nil, faultf("tls: server_name = %q is no host's name", name).in("server_name").do("write it without scheme and port")
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
		if *one.to, err = oneOf(fn, one.name, one.v, tlsVersions()); err != nil {
			return err
		}
	}
	if o.MinVersion != "" && o.MaxVersion != "" && o.MinVersion > o.MaxVersion {
		return faultf("tls: min_version = %q is above max_version = %q", o.MinVersion, o.MaxVersion).in("min_version").do("swap them")
	}
	return nil
}

func (o *TLS) suites(fn string, v starlark.Value) (err error) {
	if o.Ciphers, err = names(fn, "ciphers", "cipher suites", v); err != nil {
		return err
	}
	for i, c := range o.Ciphers {
		if !slices.Contains(tlsCiphers(), c) {
			return faultf("tls: ciphers has %q in it", clip(c, 60)).in("ciphers").at(i).meant(c, tlsCiphers())
		}
	}
	if len(o.Ciphers) > 0 && o.MinVersion == "1.3" {
		return faultf("tls: ciphers are chosen for TLS 1.2 and below, and min_version is \"1.3\"").in("ciphers").do("take ciphers out, or min_version")
	}
	if len(o.Ciphers) > 0 && o.MaxVersion == "" {
		o.MaxVersion = "1.2" // 1.3 would choose its own
	}
	return nil
}

// identity reads the client's certificate and its key, and sees that they belong together.
func (o *TLS) identity(fn string, certificate, key starlark.Value) error {
	switch {
	case certificate == nil && key == nil:
		return nil
	case certificate == nil:
		return faultf("tls has a key and no certificate").in("key").do("add certificate = file(\"client.pem\")")
	case key == nil:
		return faultf("tls has a certificate and no key").in("certificate").do("add key = file(\"client.key\")")
	}
	text, err := content(fn, "certificate", certificate, certificateMax)
	if err != nil {
		return err
	}
	chain, err := certificates(fn, "certificate", text)
	if err != nil {
		return err
	}
	secret, err := content(fn, "key", key, certificateMax)
	if err != nil {
		return err
	}
	public, err := publicOf(secret)
	if err != nil {
		return err
	}
	if own, ok := chain[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !own.Equal(public) {
		return faultf("tls: the key does not belong to the first certificate").in("key").do("give the key that the certificate was made with, and the client's own certificate before those of its authorities")
	}
	o.Certificate, o.Key = []byte(text), []byte(secret)
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
			return nil, faultf("%s: %s holds a certificate that cannot be read: %v", fn, argument, err).in(argument)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, faultf("%s: %s holds no certificate", fn, argument).in(argument).do("give a PEM text with BEGIN CERTIFICATE in it, such as %s = file(\"%s.pem\")", argument, argument)
	}
	return all, nil
}

// publicOf reads a private key and returns what of it is public.
func publicOf(text string) (crypto.PublicKey, error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, faultf("tls: key holds no private key").in("key").do("give a PEM text with BEGIN PRIVATE KEY in it")
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
			return nil, faultf("tls: key is encrypted").in("key").do("decrypt it first: openssl pkey -in key.pem")
		default:
			continue
		}
		signer, ok := key.(crypto.Signer)
		if err != nil || !ok {
			return nil, faultf("tls: key holds a private key that cannot be read").in("key")
		}
		return signer.Public(), nil
	}
}
