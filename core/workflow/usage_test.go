package workflow

import (
	"testing"

	"hyperscale/core/message"
)

// TestReads checks what of responses a program may read, in any of its files.
func TestReads(t *testing.T) {
	for _, c := range []struct {
		look          string
		heads, bodies bool
	}{
		{`get.status == 200 and get.latency.seconds < 1 and not get.error`, false, false},
		{`get.headers.get("a") == None`, true, false},
		{`get.body == b""`, false, true},
		{`get.text() == ""`, false, true},
		{`get.json() == {}`, false, true},
		{`getattr(get, "bo" + "dy") == b""`, true, true},
		{`[g for g in [getattr]][0](get, "status") == 200`, true, true},
		{`{"text": 1}["text"] == 1`, false, false},
	} {
		helper := "def look(get):\n    return " + c.look + "\n"
		main := "load(\"helper.star\", \"look\")\ndef get(vu):\n    return vu.http.get(\"http://h/\")\nworkflow(name = \"w\", steps = [step(get), check(\"c\", lambda vu, get: look(get), after = [\"get\"])])\n"
		p, err := Load(message.Program{Main: "a.star", Files: []message.File{{Name: "a.star", Data: []byte(main)}, {Name: "helper.star", Data: []byte(helper)}}})
		if err != nil {
			t.Fatal(c.look, err)
		}
		w := p.Workflow("w")
		if w.HeadsUnread == c.heads || w.BodiesUnread == c.bodies {
			t.Errorf("%s: heads unread %v, bodies unread %v", c.look, w.HeadsUnread, w.BodiesUnread)
		}
	}
}
