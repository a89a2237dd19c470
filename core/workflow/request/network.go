package request

import (
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// Bounds of what a client may list.
const (
	sourcesMax = 1_000
	serversMax = 8
	hostsMax   = 10_000
)

// Bytes parses a size such as "1MiB".
func Bytes(fn, argument string, v starlark.Value, most int64) (int64, error) {
	s, ok := v.(starlark.String)
	if !ok {
		f := language.WrongType(fn, argument, "a size such as \"1MiB\"", v)
		if i, ok := v.(starlark.Int); ok {
			f.Do("write %s = \"%sB\" for bytes", argument, i)
		}
		return 0, f
	}
	units := []struct {
		name string
		size int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}
	for _, u := range units {
		number, found := strings.CutSuffix(string(s), u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 1 || n > most/u.size {
			break
		}
		return n * u.size, nil
	}
	return 0, language.Faultf("%s: %s = %q is not a size between 1B and %s", fn, argument, language.Clip(string(s), 40), guard.Size(uint64(most))).In(argument).Do("write a whole number and a unit: \"500B\", \"64KiB\", \"1MiB\"")
}

// route reads the proxy and the source addresses.
func (o *Options) route(fn string, proxy, addresses starlark.Value) (err error) {
	if proxy != nil {
		if o.Proxy, err = readProxy(fn, proxy); err != nil {
			return err
		}
	}
	switch v := addresses.(type) {
	case nil:
		return nil
	case starlark.String:
		p, err := netip.ParsePrefix(string(v))
		if err != nil {
			f := language.Faultf("%s: addresses = %q is not a range of addresses", fn, language.Clip(string(v), 60)).In("addresses")
			if _, err := netip.ParseAddr(string(v)); err == nil {
				return f.Do("write a list: addresses = [%q]", string(v))
			}
			return f.Do("write a range such as \"10.0.0.0/28\", or a list of addresses of this machine")
		}
		o.Sources = []netip.Prefix{p.Masked()}
	default:
		all, err := language.Names(fn, "addresses", "addresses", v)
		if err != nil {
			return err
		}
		if len(all) == 0 || len(all) > sourcesMax {
			return language.Faultf("%s: addresses has %d of them", fn, len(all)).In("addresses").Do("it needs at least one, and at most %d", sourcesMax)
		}
		for i, s := range all {
			a, err := netip.ParseAddr(s)
			if err != nil || a.Zone() != "" {
				return language.Faultf("%s: addresses has %q in it, which is no address", fn, language.Clip(s, 60)).In("addresses").At(i).Do("write one of this machine, such as \"10.0.0.2\"")
			}
			o.Sources = append(o.Sources, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
	}
	return nil
}

func readProxy(fn string, v starlark.Value) (*Proxy, error) {
	s, ok, err := sentText(v)
	if err != nil {
		return nil, err
	}
	if t, hidden := v.(*secret.Text); hidden && t.InHost() {
		return nil, language.Faultf("%s: a secret stands in the scheme or the host of the proxy", fn).In("proxy").Do("write them out: \"http://user:\" + secret + \"@host:3128\"")
	}
	if !ok {
		return nil, language.WrongType(fn, "proxy", "a text such as \"http://host:3128\"", v)
	}
	wrong := func(format string, args ...any) error {
		f := language.Faultf("%s: the proxy ", fn).In("proxy").Do("write proxy = \"http://user:password@host:3128\"")
		f.Message += language.Faultf(format, args...).Message
		return f
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "": // its text may contain a password
		return nil, wrong("is no URL")
	case u.Scheme != "http":
		return nil, wrong("speaks %s, and only http is known: https:// targets go through it by CONNECT", language.Clip(u.Scheme, 20))
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, wrong("has a path")
	}
	p := &Proxy{Host: u.Hostname(), Port: 3128, User: u.User.Username()}
	p.Password, _ = u.User.Password()
	if strings.ContainsAny(p.User+p.Password, "\r\n\x00") || strings.Contains(p.User, ":") {
		return nil, wrong("has a user or a password that cannot be sent")
	}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return nil, wrong("has the port %s", language.Clip(text, 20))
		}
		p.Port = uint16(n)
	}
	return p, nil
}

// dnsValue is the result of dns().
type dnsValue struct {
	language.Opaque
	options DNS
}

// NewDNS returns the value of dns().
func NewDNS(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "dns"
	var in [4]starlark.Value
	if err := language.Bind(fn, []string{"ttl", "rotate", "servers", "hosts"}, 0, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	d := &dnsValue{Opaque: language.Opaque{Kind: fn}}
	if s, ok := in[0].(starlark.String); ok && s == "answer" {
		d.options.Answer = true
	} else if in[0] != nil {
		ttl, err := language.Duration(fn, "ttl", in[0])
		if err != nil {
			if f, ok := err.(*language.Fault); ok && f.Remedy != "" {
				f.Do("%s; or \"answer\" for what each answer says", f.Remedy)
			}
			return nil, err
		}
		d.options.TTL = ttl
	}
	if in[1] != nil {
		rotate, err := builtin.OneOf(fn, "rotate", in[1], []string{RotateNone, RotateRobin, RotateRandom})
		if err != nil {
			return nil, err
		}
		d.options.Rotate = rotate
	}
	servers, err := language.Names(fn, "servers", "servers", in[2])
	if err != nil {
		return nil, err
	}
	if len(servers) > serversMax {
		return nil, language.Faultf("dns: %d servers, the limit is %d", len(servers), serversMax).In("servers")
	}
	for i, s := range servers {
		at, err := netip.ParseAddrPort(s)
		if err != nil {
			a, plain := netip.ParseAddr(s)
			at, err = netip.AddrPortFrom(a, 53), plain
		}
		if err != nil || at.Port() == 0 {
			return nil, language.Faultf("dns: servers has %q in it, which is no address", language.Clip(s, 60)).In("servers").At(i).Do("write \"192.0.2.53\" or \"192.0.2.53:5353\"")
		}
		d.options.Servers = append(d.options.Servers, at)
	}
	return d, d.options.names(in[3])
}

// names reads the names that need no look-up.
func (d *DNS) names(v starlark.Value) error {
	all, err := builtin.Pairs("dns", "hosts", v)
	if err != nil {
		return err
	}
	if len(all) > hostsMax {
		return language.Faultf("dns: %d hosts, the limit is %d", len(all), hostsMax).In("hosts")
	}
	at := map[string]int{}
	for _, p := range all {
		name := strings.ToLower(strings.TrimSuffix(p.Name, "."))
		a, err := netip.ParseAddr(p.Value)
		if err != nil || a.Zone() != "" {
			return language.Faultf("dns: hosts gives %q the address %q, which is none", language.Clip(p.Name, 60), language.Clip(p.Value, 60)).In("hosts").Do("write {%q: \"192.0.2.1\"}, or a list of addresses", language.Clip(p.Name, 60))
		}
		if name == "" || strings.ContainsAny(name, "/: ") {
			return language.Faultf("dns: hosts has %q for a name", language.Clip(p.Name, 60)).In("hosts").Do("write a host's name without scheme and port")
		}
		i, known := at[name]
		if !known {
			i = len(d.Hosts)
			at[name] = i
			d.Hosts = append(d.Hosts, Host{Name: name})
		}
		d.Hosts[i].Addresses = append(d.Hosts[i].Addresses, a.Unmap())
	}
	return nil
}
