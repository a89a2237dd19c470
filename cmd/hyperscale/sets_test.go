package main

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// A gate that is configured with one member more than its group says so as the group does: in its log, and at /readyz.
func TestBothSidesReportSetsThatDiffer(t *testing.T) {
	t.Parallel()
	gates := map[string]string{"old": hostiletest.FreeAddress(t), "added": hostiletest.FreeAddress(t)}
	old := start(t, "gate", "--id", "old", "--data", t.TempDir(), "--listen", gates["old"], "--gates", gates["old"])
	old.await(`msg=group-joined`)
	added := start(t, "gate", "--id", "added", "--data", t.TempDir(), "--listen", gates["added"], "--gates", gates["old"]+","+gates["added"], "--admin", "127.0.0.1:0")
	admin := added.await(`msg=up .*admin=(\S+)`)
	one, two := regexp.QuoteMeta(gates["old"]), regexp.QuoteMeta(gates["old"]+","+gates["added"])
	old.await(`msg=group-refused .*ours=` + one + ` theirs=` + two)
	added.await(`msg=group-refused .*ours=` + two + ` theirs=` + one)
	want := regexp.MustCompile(`is configured with the set ` + one + `, this node with ` + two + `: give both the same one`)
	eventually(t, "/readyz prints both sets", patience, func() bool {
		r, err := http.Get("http://" + admin + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = r.Body.Close() }() // it is read
		text, err := io.ReadAll(r.Body)
		return err == nil && r.StatusCode == http.StatusServiceUnavailable && want.Match(text)
	})
}
