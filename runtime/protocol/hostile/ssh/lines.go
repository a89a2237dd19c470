package ssh

import (
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// lines are behaviours of scp.
func lines() []Entry {
	says := func(name string, verb Verb, want http1.Kind, said string, status int) Entry {
		return Entry{Name: name, Verb: verb, Server: Behaviour{Copy: said, Status: status}, Want: want, Late: status == statusWaits && want == http1.KindTimeout}
	}
	told := func(e Entry) Entry { e.Reuse = true; return e }
	return []Entry{
		says("another file", CopyGet, http1.KindProtocol, "C0644 4 passwd\nnext\x00", statusWaits),
		says("a path in place of a name", CopyGet, http1.KindProtocol, "C0644 4 ../../next\nnext\x00", statusWaits),
		says("a size below 0", CopyGet, http1.KindProtocol, "C0644 -4 next\n", statusWaits),
		says("a size of 30 digits", CopyGet, http1.KindProtocol, "C0644 "+strings.Repeat("9", 30)+" next\n", statusWaits),
		says("a line without an end", CopyGet, http1.KindProtocol, "C"+strings.Repeat("6", 10000), statusWaits),
		says("times before the file", CopyGet, http1.KindProtocol, "T0 0 0 0\n", statusWaits),
		says("a file without an end", CopyGet, http1.KindTimeout, "C0644 1000000 next\nnext", statusWaits),
		says("an end in the file", CopyGet, http1.KindProtocol, "C0644 1000000 next\nnext", -1),
		says("garbage for an answer", CopyPut, http1.KindProtocol, "\x07", statusWaits),
		told(says("a directory", CopyGet, "server SCP", "D0755 0 next\n", 0)),
		told(says("an error", CopyGet, "server SCP", "\x01scp: no\r\n", 1)),
		told(says("a fatal error", CopyPut, "server SCP", "\x02full\n", 1)),
		told(says("a status", CopyPut, "server EXIT", "\x00", 127)),
	}
}
