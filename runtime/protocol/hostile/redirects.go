package hostile

import (
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

const hopsMost = 3

// redirects are for a client that follows up to hopsMost of them.
func redirects() []Entry {
	fail := func(hops int) Want { return Want{Kind: http1.KindRedirect, Reused: true, Hops: hops} }
	to := func(status int, location string) Act {
		return func(s *Session) bool {
			s.Say("HTTP/1.1 " + strconv.Itoa(status) + " Go\r\nLocation: " + strings.NewReplacer("BASE", s.Base, "HOST", s.TCP.LocalAddr().String()).Replace(location) + "\r\n" + empty)
			return true
		}
	}
	once := func(status int, location string) Act {
		redirect := to(status, location)
		return func(s *Session) bool {
			if s.Path == "/" {
				return redirect(s)
			}
			s.Say(sized(s.method + strconv.Itoa(s.length)))
			return true
		}
	}
	all := []Entry{
		answers("a redirect to itself", "", to(302, "/hop"), fail(hopsMost)),
		answers("redirects that never meet", "", deeper, fail(hopsMost)),
		answers("a redirect to a file", "", to(302, "file:///etc/passwd"), fail(0)),
		answers("a redirect to a script", "", to(302, "javascript:alert(1)"), fail(0)),
		answers("a redirect to no URL", "", to(302, "http://[::1"), fail(0)),
		answers("a redirect to a port that is none", "", to(302, "http://127.0.0.1:99999/"), fail(0)),
		answers("a redirect with an escape that is none", "", to(302, "/%zz"), fail(0)),
		answers("a redirect without a location", "HTTP/1.1 302 Go\r\n"+empty, stay, Want{Status: 302, Reused: true}),
		answers("a redirect to a port where nobody listens", "", to(302, "http://127.0.0.1:1/"), Want{Kind: http1.KindRefused, Reused: true}),
		answers("a redirect to https where plain http is spoken", "", to(302, "https://HOST/hop"), Want{Kind: http1.KindTLS, Reused: true}),
		answers("one redirect", "", once(302, "/hop"), Want{Status: 200, Body: 4, Reused: true, Hops: 1}),
		answers("a redirect with a fragment", "", once(301, "BASE/hop#fragment"), Want{Status: 200, Body: 4, Reused: true, Hops: 1}),
		answers("303 turns POST into GET", "", once(303, "/hop"), Want{Status: 200, Body: int64(len("GET0")), Reused: true, Hops: 1}),
		answers("307 sends the body again", "", once(307, "/hop"), Want{Status: 200, Body: int64(len("POST3000")), Reused: true, Hops: 1}),
		answers("308 that ends in the middle", "", func(s *Session) bool { return s.Path == "/" && to(308, "/hop")(s) }, Want{Kind: http1.KindClosed, Hops: 1}),
	}
	for i := range all {
		all[i].Ask.Redirects = hopsMost
		if name := all[i].Name; strings.HasPrefix(name, "303") || strings.HasPrefix(name, "307") {
			all[i].Ask.Method, all[i].Ask.Body = "POST", 3000
		}
	}
	return all
}

// deeper redirects to a place that is new each time.
func deeper(s *Session) bool {
	path := s.Path
	if path == "/" {
		path = "/hop"
	}
	s.Say("HTTP/1.1 307 Go\r\nLocation: " + path + "/x\r\n" + empty)
	return true
}

// addresses are hosts of which not every address takes connections.
func addresses() []Entry {
	return []Entry{
		{Name: "nobody listens", Ask: Ask{Once: true}, Want: Want{Kind: http1.KindRefused, Unseen: true}},
		{Name: "the first address refuses", Server: Behaviour{Answer: sized("body"), First: AddressRefuses}, Want: reused(4)},
		{Name: "the first address never answers", Server: Behaviour{Answer: sized("body"), First: AddressDrops}, Want: reused(4)},
		{Name: "the first address refuses, under TLS", Server: Behaviour{Answer: sized("body"), First: AddressRefuses, TLS: true}, Want: reused(4)},
	}
}
