package builtin

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"strings"

	"go.starlark.net/starlark"
)

func digests() []string  { return []string{"sha256", "sha1", "sha512", "md5"} }
func writings() []string { return []string{"hex", "base64", "base64url", "bytes"} }

func newDigest(name string) hash.Hash {
	switch name {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha512":
		return sha512.New()
	}
	return sha256.New()
}

// digestOf is a digest of data in an encoding; with a key it is its HMAC.
type digestOf struct {
	hash, as  string
	keyed     bool
	key, data secret.Input
}

// Derive implements secret.Derivation.
func (d digestOf) Derive() (string, error) {
	data, err := d.data.Value()
	if err != nil {
		return "", err
	}
	h := newDigest(d.hash)
	if d.keyed {
		key, err := d.key.Value()
		if err != nil {
			return "", err
		}
		h = hmac.New(func() hash.Hash { return newDigest(d.hash) }, []byte(key))
	}
	h.Write([]byte(data))
	sum := h.Sum(nil)
	switch d.as {
	case "base64":
		return base64.StdEncoding.EncodeToString(sum), nil
	case "base64url":
		return base64.RawURLEncoding.EncodeToString(sum), nil
	case "bytes":
		return string(sum), nil
	}
	return hex.EncodeToString(sum), nil
}

// written returns a digest in the requested encoding.
func (d digestOf) written(fn string, encoding starlark.Value) (v starlark.Value, err error) {
	if d.as, err = OneOf(fn, "encoding", encoding, writings()); err != nil {
		return nil, err
	}
	v, err = derived(d, d.key, d.data)
	if text, ok := v.(starlark.String); ok && d.as == "bytes" {
		return starlark.Bytes(text), err
	}
	return v, err
}

// DigestFunction returns sha256 and its like.
func DigestFunction(name string) *guard.Func {
	return function(name, name, []string{"data", "encoding"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
		data, err := secretly(thread, name, "data", in[0], guard.MeterOf(thread).Limits.ValueBytes, 0, 128)
		if err != nil {
			return nil, err
		}
		return digestOf{hash: name, data: data}.written(name, in[1])
	})
}

// HMAC is the function hmac.
func HMAC() *guard.Func {
	return function("hmac", "hmac", []string{"key", "data", "hash", "encoding"}, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
		most := guard.MeterOf(thread).Limits.ValueBytes
		key, err := secretly(thread, "hmac", "key", in[0], most, 0, 64)
		if err != nil {
			return nil, err
		}
		data, err := secretly(thread, "hmac", "data", in[1], most, 0, 64)
		if err != nil {
			return nil, err
		}
		name, err := OneOf("hmac", "hash", in[2], digests())
		if err != nil {
			return nil, err
		}
		return digestOf{hash: name, keyed: true, key: key, data: data}.written("hmac", in[3])
	})
}

// UUID is the module uuid (RFC 9562).
func UUID() *language.Namespace {
	return language.NewNamespace("uuid", starlark.StringDict{
		"v4": function("uuid.v4", "v4", nil, 0, 0, func(thread *starlark.Thread, _ []starlark.Value) (starlark.Value, error) {
			v := guard.CallerOf(thread)
			if v == nil {
				return nil, language.Faultf("uuid.v4 draws a random number, and a file that is loaded has none").Do("call it in a step's function: it draws from the virtual user's own numbers")
			}
			if err := worked(thread, "uuid.v4", 16, 36); err != nil {
				return nil, err
			}
			return uuidText(v.Rand().ID(), 4), nil
		}),
		"v5": function("uuid.v5", "v5", []string{"namespace", "name"}, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			space, err := Content("uuid.v5", "namespace", in[0], 64)
			if err != nil {
				return nil, err
			}
			name, err := Content("uuid.v5", "name", in[1], guard.MeterOf(thread).Limits.ValueBytes)
			if err != nil {
				return nil, err
			}
			id, err := uuidSpace(space)
			if err != nil {
				return nil, err
			}
			if err := worked(thread, "uuid.v5", len(name), 36); err != nil {
				return nil, err
			}
			h := sha1.New()
			h.Write(id)
			h.Write([]byte(name))
			return uuidText([16]byte(h.Sum(nil)[:16]), 5), nil
		}),
	})
}

// uuidSpace returns one of the standard's namespaces, or any UUID.
func uuidSpace(s string) ([]byte, error) {
	named := []string{"dns", "url", "oid", "", "x500"}
	for i, name := range named {
		if name == s && s != "" {
			id, _ := hex.DecodeString("6ba7b81" + string("0123456789"[i]) + "9dad11d180b400c04fd430c8")
			return id, nil
		}
	}
	id, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(id) != 16 {
		return nil, language.Faultf("uuid.v5: namespace = %q is no UUID", language.Clip(s, 40)).In("namespace").Do("write \"dns\", \"url\", \"oid\", \"x500\" or a UUID")
	}
	return id, nil
}

func uuidText(id [16]byte, version byte) starlark.String {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	s := hex.EncodeToString(id[:])
	return starlark.String(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:])
}
