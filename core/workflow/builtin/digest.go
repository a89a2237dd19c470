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

// written returns a digest in the requested encoding.
func written(fn string, sum []byte, encoding starlark.Value) (starlark.Value, error) {
	as, err := OneOf(fn, "encoding", encoding, writings())
	if err != nil {
		return nil, err
	}
	switch as {
	case "base64":
		return starlark.String(base64.StdEncoding.EncodeToString(sum)), nil
	case "base64url":
		return starlark.String(base64.RawURLEncoding.EncodeToString(sum)), nil
	case "bytes":
		return starlark.Bytes(sum), nil
	}
	return starlark.String(hex.EncodeToString(sum)), nil
}

// DigestFunction returns sha256 and its like.
func DigestFunction(name string) *guard.Func {
	return function(name, name, []string{"data", "encoding"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
		data, err := Content(name, "data", in[0], guard.MeterOf(thread).Limits.ValueBytes)
		if err != nil {
			return nil, err
		}
		if err := worked(thread, name, len(data), 128); err != nil {
			return nil, err
		}
		h := newDigest(name)
		h.Write([]byte(data))
		return written(name, h.Sum(nil), in[1])
	})
}

// HMAC is the function hmac.
func HMAC() *guard.Func {
	return function("hmac", "hmac", []string{"key", "data", "hash", "encoding"}, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
		most := guard.MeterOf(thread).Limits.ValueBytes
		key, err := Content("hmac", "key", in[0], most)
		if err != nil {
			return nil, err
		}
		data, err := Content("hmac", "data", in[1], most)
		if err != nil {
			return nil, err
		}
		name, err := OneOf("hmac", "hash", in[2], digests())
		if err != nil {
			return nil, err
		}
		if err := worked(thread, "hmac", len(key)+len(data), 128); err != nil {
			return nil, err
		}
		m := hmac.New(func() hash.Hash { return newDigest(name) }, []byte(key))
		m.Write([]byte(data))
		return written("hmac", m.Sum(nil), in[3])
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
