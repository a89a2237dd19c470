package builtin

import (
	"encoding/base64"
	"encoding/hex"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"net/url"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Base64 is the module base64.
func Base64() *language.Namespace {
	return language.NewNamespace("base64", starlark.StringDict{
		"encode": function("base64.encode", "encode", []string{"data", "url", "padding"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			data, err := secretly(thread, "base64.encode", "data", in[0], guard.MeterOf(thread).Limits.ValueBytes, 2, 4)
			if err != nil {
				return nil, err
			}
			forURL, err := Flag("base64.encode", "url", in[1], false)
			if err != nil {
				return nil, err
			}
			padded, err := Flag("base64.encode", "padding", in[2], !forURL)
			if err != nil {
				return nil, err
			}
			coding := base64.StdEncoding
			if forURL {
				coding = base64.URLEncoding
			}
			if !padded {
				coding = coding.WithPadding(base64.NoPadding)
			}
			return derived(base64Of{data, coding}, data)
		}),
		"decode": function("base64.decode", "decode", []string{"text"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			text, err := Content("base64.decode", "text", in[0], guard.MeterOf(thread).Limits.ValueBytes)
			if err != nil {
				return nil, err
			}
			if err := worked(thread, "base64.decode", len(text), len(text)); err != nil {
				return nil, err
			}
			return decodeBase64(text)
		}),
	})
}

// base64Of, hexOf and escapedOf are encodings of an input.
type (
	base64Of struct {
		data   secret.Input
		coding *base64.Encoding
	}
	hexOf     struct{ data secret.Input }
	escapedOf struct{ text secret.Input }
)

// Derive implements secret.Derivation, as those below do.
func (d base64Of) Derive() (string, error) {
	data, err := d.data.Value()
	return d.coding.EncodeToString([]byte(data)), err
}

func (d hexOf) Derive() (string, error) {
	data, err := d.data.Value()
	return hex.EncodeToString([]byte(data)), err
}

func (d escapedOf) Derive() (string, error) {
	text, err := d.text.Value()
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), err
}

// decodeBase64 accepts both alphabets, with and without padding.
func decodeBase64(text string) (starlark.Value, error) {
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "").Replace(text), "=")
	b, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return nil, language.Faultf("base64.decode: %q is not base64", language.Clip(text, 40)).In("text")
	}
	return starlark.Bytes(b), nil
}

// Flag reads True or False.
func Flag(fn, argument string, v starlark.Value, fallback bool) (bool, error) {
	if v == nil {
		return fallback, nil
	}
	b, ok := v.(starlark.Bool)
	if !ok {
		return false, language.WrongType(fn, argument, "True or False", v)
	}
	return bool(b), nil
}

// Hex is the module hex.
func Hex() *language.Namespace {
	return language.NewNamespace("hex", starlark.StringDict{
		"encode": function("hex.encode", "encode", []string{"data"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			data, err := secretly(thread, "hex.encode", "data", in[0], guard.MeterOf(thread).Limits.ValueBytes, 2, 0)
			if err != nil {
				return nil, err
			}
			return derived(hexOf{data}, data)
		}),
		"decode": function("hex.decode", "decode", []string{"text"}, 1, 1, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			text, err := Content("hex.decode", "text", in[0], guard.MeterOf(thread).Limits.ValueBytes)
			if err != nil {
				return nil, err
			}
			if err := worked(thread, "hex.decode", len(text), len(text)/2); err != nil {
				return nil, err
			}
			b, err := hex.DecodeString(text)
			if err != nil {
				return nil, language.Faultf("hex.decode: %q is not hex", language.Clip(text, 40)).In("text").Do("it has two digits of 0-9 and a-f for each byte")
			}
			return starlark.Bytes(b), nil
		}),
	})
}

// urlMax bounds the input of the module url.
const urlMax = 1 << 20

// URL is the module url.
func URL() *language.Namespace {
	return language.NewNamespace("url", starlark.StringDict{
		"encode": function("url.encode", "encode", []string{"value"}, 1, 1, urlEncode),
		"decode": function("url.decode", "decode", []string{"text"}, 1, 1, urlDecode),
		"parse":  function("url.parse", "parse", []string{"url"}, 1, 1, urlParse),
		"join": function("url.join", "join", []string{"base", "reference"}, 2, 2, func(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
			var u [2]*url.URL
			total := 0
			for i, name := range []string{"base", "reference"} {
				text, err := Content("url.join", name, in[i], urlMax)
				if err != nil {
					return nil, err
				}
				if u[i], err = url.Parse(text); err != nil {
					return nil, notURL("url.join", name, text, err)
				}
				total += 3 * len(text)
			}
			if err := worked(thread, "url.join", total, total); err != nil {
				return nil, err
			}
			return starlark.String(u[0].ResolveReference(u[1]).String()), nil
		}),
	})
}

func notURL(fn, argument, text string, err error) error {
	why := err.Error()
	if i := strings.LastIndex(why, ": "); i >= 0 {
		why = why[i+2:]
	}
	return language.Faultf("%s: %q is no URL: %s", fn, language.Clip(text, 80), language.Clip(why, 80)).In(argument)
}

// urlEncode escapes a text for any part of a URL, or encodes a dict as a query.
func urlEncode(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	if _, ok := in[0].(*starlark.Dict); ok {
		if n, err := guard.MeterOf(thread).Rendered(in[0]); err != nil {
			return nil, err
		} else if err := worked(thread, "url.encode", n, 3*n); err != nil {
			return nil, err
		}
		fields, err := Pairs("url.encode", "form", in[0])
		return starlark.String(EncodeForm(fields)), err
	}
	text, err := secretly(thread, "url.encode", "value", in[0], urlMax, 3, 0)
	if err != nil {
		return nil, err
	}
	return derived(escapedOf{text}, text)
}

func urlDecode(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	text, err := Content("url.decode", "text", in[0], urlMax)
	if err != nil {
		return nil, err
	}
	if err := worked(thread, "url.decode", len(text), len(text)); err != nil {
		return nil, err
	}
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return nil, language.Faultf("url.decode: %q has a %% without two hex digits behind it", language.Clip(text, 40)).In("text")
	}
	return starlark.String(strings.ToValidUTF8(plain, "\uFFFD")), nil
}

// urlParse splits a URL.
func urlParse(thread *starlark.Thread, in []starlark.Value) (starlark.Value, error) {
	text, err := Content("url.parse", "url", in[0], urlMax)
	if err != nil {
		return nil, err
	}
	m := guard.MeterOf(thread)
	if err := m.Elements(thread, "url.parse", 16+strings.Count(text, "&")); err != nil {
		return nil, err
	}
	if err := worked(thread, "url.parse", len(text), 2*len(text)); err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, notURL("url.parse", "url", text, err)
	}
	query := new(starlark.Dict)
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = unescaped(name), unescaped(value)
		values := starlark.NewList(nil)
		if before, found, _ := query.Get(starlark.String(name)); found {
			values = before.(*starlark.List)
		}
		_ = values.Append(starlark.String(value)) // it is new, so it is not frozen
		_ = query.SetKey(starlark.String(name), values)
	}
	password, _ := u.User.Password()
	return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
		"scheme": starlark.String(u.Scheme), "user": starlark.String(u.User.Username()), "password": starlark.String(password),
		"host": starlark.String(u.Hostname()), "port": starlark.String(u.Port()), "path": starlark.String(u.EscapedPath()),
		"query": query, "fragment": starlark.String(u.Fragment),
	}), nil
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		s = plain
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
