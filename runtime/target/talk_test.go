package target

import "testing"

// A session echoes frames however they are cut, and ends with the client's goodbye.
func TestSessionsTalk(t *testing.T) {
	const head = "GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	const frames = "\x81\x85\x01\x02\x03\x04igohn" + "\x89\x81\x00\x00\x00\x00p" + "\x8a\x80\x00\x00\x00\x00" + "\x88\x82\x00\x00\x00\x00\x03\xe8"
	const want = "\x81\x05hello" + "\x8a\x01p" + "\x88\x02\x03\xe8"
	for _, cut := range []int{1, 7, len(head) + len(frames)} {
		s := session{site: newSite(Config{})}
		var out output
		all, got, last := []byte(head+frames), "", wantMore
		var kept []byte
		for len(all) > 0 && last == wantMore {
			n := min(cut, len(all))
			kept = append(kept, all[:n]...)
			all = all[n:]
			for {
				out.reset()
				used, v := s.feed(kept, &out)
				kept, got, last = kept[used:], got+string(out.bytes), v
				if v != wantFlush {
					break
				}
			}
		}
		i := len(got) - len(want)
		if i < 0 || got[i:] != want || last != wantLinger {
			t.Errorf("cut %d: got %q, verdict %d", cut, got, last)
		}
		if s.site.stats.Requests != 1 {
			t.Errorf("cut %d: %d requests", cut, s.site.stats.Requests)
		}
	}
}

func TestSessionsRefuseWhatIsNoWebSocket(t *testing.T) {
	for name, b := range map[string]string{
		"not masked": "\x81\x00", "reserved bits": "\xc1\x80\x00\x00\x00\x00", "too long": "\x82\xff\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00",
	} {
		s := session{site: newSite(Config{}), part: partTalk}
		var out output
		if used, v := s.feed([]byte(b), &out); used != len(b) || v != wantLinger || len(out.bytes) != 4 {
			t.Errorf("%s: used %d, verdict %d, %q", name, used, v, out.bytes)
		}
	}
}
