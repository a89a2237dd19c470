package grpc

import (
	"testing"

	"hyperscale/runtime/protocol/http1"
)

func TestCatalogue(t *testing.T) {
	names, kinds := map[string]bool{}, map[http1.Kind]int{}
	all := All()
	for _, e := range all {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
		kinds[e.Want.Kind]++
		kinds[e.Want.Read]++
	}
	if len(all) < 80 {
		t.Errorf("%d entries, want at least 80", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindClosed, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindRefusedStream, http1.KindStreamReset, http1.KindGoaway, http1.KindFlowControl, http1.KindEncoding,
		http1.KindBomb, "server UNKNOWN", "server UNAVAILABLE",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}
