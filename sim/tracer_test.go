package sim

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A line is the one that encoding/json writes.
func TestTraceLinesAreThoseOfEncodingJSON(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "", "worker-dc-a-1#6", "a \"name\" <with> \\ & \n\x00", "ß\u2028", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) string { return text.Draw(t, name) }
		number := func(name string) int64 { return rapid.SampledFrom([]int64{0, 0, 1, 1 << 40}).Draw(t, name) }
		l := traceLine{
			At: time.Duration(number("at")), Node: node.ID(some("node")), In: some("in"), Out: some("out"), From: some("from"),
			To: node.Addr(some("to")), Stream: node.StreamID(number("stream")), Message: some("message"), Digest: some("digest"),
			Timer: some("timer"), Delay: time.Duration(-number("delay")), WriteID: node.WriteID(number("token")),
			Exec: node.ExecID(number("exec")), Until: node.Instant(number("until")), Command: uint64(number("command")), Reason: some("reason"),
			Keys: rapid.SliceOfN(text, 0, 3).Draw(t, "keys"),
		}
		if rapid.Bool().Draw(t, "has a body") {
			l.Body = &message.HeartbeatAck{Sequence: 7}
		}
		if core := int(number("core")); rapid.Bool().Draw(t, "has a core") {
			l.Core = &core
		}
		if rapid.Bool().Draw(t, "is a fault") {
			l.Fault = &Fault{At: time.Second, Kind: some("kind"), Nodes: []string{some("victim")}}
		}
		got, err := l.append(nil)
		want, wrong := json.Marshal(&l)
		if string(got) != string(want) && wrong == nil || (err == nil) != (wrong == nil) {
			t.Fatalf("got  %s, %v\nwant %s, %v", got, err, want, wrong)
		}
	})
}
