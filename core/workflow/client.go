package workflow

import (
	"slices"

	"go.starlark.net/starlark"
)

// Versions of HTTP that a client speaks. The empty one is Version11.
const (
	Version11   = "1.1"
	Version2    = "2"    // https: the server must choose it by ALPN; http: by prior knowledge
	VersionAuto = "auto" // https: as the server chooses; http: 1.1
)

func versions() []string { return []string{Version11, Version2, VersionAuto} }

// streamsMax bounds the requests under way at once on one connection.
const streamsMax = 10_000

// clientArguments are those of http.client.
func clientArguments() []string { return []string{"tls", "version", "streams"} }

// newClient makes the value of http.client.
func newClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "http.client"
	names := clientArguments()
	in := make([]starlark.Value, len(names))
	if err := bind(fn, names, 0, args, kwargs, in); err != nil {
		return nil, err
	}
	of := func(name string) starlark.Value { return in[slices.Index(names, name)] }
	client := &clientValue{opaque: opaque{fn}}
	if v := of("tls"); v != nil {
		t, ok := v.(*tlsValue)
		if !ok {
			return nil, wrongType(fn, "tls", "tls(verify = False)", v)
		}
		client.options.Insecure = !t.verify
	}
	return client, client.options.protocol(fn, of("version"), of("streams"))
}

// protocol reads which HTTP it is, and how many requests share a connection.
func (o *Options) protocol(fn string, version, streams starlark.Value) error {
	if version != nil {
		s, ok := version.(starlark.String)
		if !ok {
			f := wrongType(fn, "version", "\"1.1\", \"2\" or \"auto\"", version)
			return f.do("write version = \"2\"")
		}
		if !slices.Contains(versions(), string(s)) {
			return faultf("%s: version must not be %q", fn, clip(string(s), 40)).in("version").do("write \"1.1\", \"2\" or \"auto\"")
		}
		o.Version = string(s)
	}
	if streams == nil {
		return nil
	}
	n, err := integer(fn, "streams", streams, 1, streamsMax)
	if err != nil {
		return err
	}
	if o.Version == "" || o.Version == Version11 {
		return faultf("%s: streams = %d, but HTTP/1.1 has one request at a time on a connection", fn, n).in("streams").do("add version = \"2\"")
	}
	o.Streams = n
	return nil
}
