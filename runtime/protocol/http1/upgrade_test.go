package http1

import "testing"

// 101 ends the response to a request that asked for it; what follows is another protocol's,
// however the bytes are cut. To others it is an error, also behind a head that is remembered.
func TestUpgrade(t *testing.T) {
	const switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 5\r\n\r\n"
	const hints = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
	for _, test := range []struct {
		name, stream string
		asks         bool
		kind         Kind
		status, used int
	}{
		{"101", switched, true, KindNone, 101, len(switched)},
		{"101, and bytes of the other protocol", switched + "\x81\x02hi", true, KindNone, 101, len(switched)},
		{"interim answers before 101", hints + hints + switched + "HTTP/1.1 200 OK\r\n", true, KindNone, 101, len(hints + hints + switched)},
		{"200 for 101", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", true, KindNone, 200, 40},
		{"101 that no request asked for", switched, false, KindProtocol, 101, len(switched)},
	} {
		for _, collects := range []bool{true, false} {
			for cut := 1; cut <= len(test.stream); cut++ {
				var p Parser
				var kept Collector
				p.Share(&Common{})
				p.Reset("GET")
				if collects {
					p.Collect(&kept)
				}
				if test.asks {
					p.Upgrade()
				}
				used, done, err := 0, false, error(nil)
				for rest := test.stream; len(rest) > 0 && err == nil && !done; {
					var n int
					n, done, err = p.Feed([]byte(rest[:min(cut, len(rest))]))
					rest, used = rest[min(cut, len(rest)):], used+n
				}
				if KindOf(err) != test.kind || p.Status() != test.status || used != test.used || done != (err == nil) || p.Reusable() != (test.status == 200) {
					t.Fatalf("%s, cut at %d: got %v, status %d, %d bytes, done %v, reusable %v", test.name, cut, err, p.Status(), used, done, p.Reusable())
				}
			}
		}
	}
	common := &Common{}
	for _, asks := range []bool{true, false, true} {
		var p Parser
		p.Share(common)
		p.Reset("GET")
		if asks {
			p.Upgrade()
		}
		if _, done, err := p.Feed([]byte(switched)); done != asks || (err == nil) != asks {
			t.Errorf("asks %v: done %v, %v", asks, done, err)
		}
	}
}
