package websocket_test

import (
	"strings"
	"testing"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// FuzzUpgrade judges any fields: no panic, an error with a kind, and no dialogue without the three
// fields, with a protocol that was not offered, or with compression that was not.
func FuzzUpgrade(f *testing.F) {
	good := "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: " + sampleAccept
	for _, more := range []string{
		"", "\nSec-WebSocket-Protocol: v1", "\nSec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; server_max_window_bits=\"15\"",
		"\nSec-WebSocket-Extensions: permessage-deflate;;=,\"", "\nUpgrade: h2c", "\nSec-WebSocket-Extensions: permessage-deflate;server_max_window_bits=",
	} {
		for offer := range uint8(3) {
			f.Add(good+more, uint16(101), offer)
		}
	}
	f.Fuzz(func(t *testing.T, text string, status uint16, offer uint8) {
		p, err := websocket.New(websocket.Config{Protocols: []string{"v1", "v2"}, Compression: websocket.Compression(offer % 3)})
		if err != nil {
			t.Fatal(err)
		}
		u := p.Upgrade()
		u.AppendFields(nil, sampleRandom)
		var head fields
		for line := range strings.SplitSeq(text, "\n") {
			name, value, _ := strings.Cut(line, ":")
			head = append(head, [2]string{name, strings.TrimSpace(value)})
		}
		d, err := u.Begin(int(status), head, counting())
		if err != nil {
			if kind := http1.KindOf(err); kind != http1.KindProtocol && kind != http1.KindStatus || d != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		c, lower := d.(*websocket.Conn), strings.ToLower(text)
		has := func(s string) bool { return strings.Contains(lower, s) }
		if status != 101 || !has("websocket") || !has("upgrade") || !strings.Contains(text, sampleAccept) {
			t.Fatalf("%d %q is taken", status, text)
		}
		if c.Compressed() && (offer%3 == 0 || !has("permessage-deflate")) || offer%3 == 1 && c.Compressed() && !has("server_no_context_takeover") {
			t.Fatalf("%q: compressed", text)
		}
		if name := c.Chosen(); name != "" && name != "v1" && name != "v2" {
			t.Fatalf("%q: protocol %q", text, name)
		}
	})
}
