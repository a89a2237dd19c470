package pool

import (
	"crypto/tls"
	"testing"
)

// A user takes up the sessions of one destination, and of all that have the workflow's TLS options; what
// another client has verified by options of its own is none of them.
func TestSessionsOfOwnOptions(t *testing.T) {
	a := &handshakes{Sessions: map[int32]*sessions{}}
	plain, other := &Host{Key: "https://h"}, &Host{Key: "https://h:8443"}
	strict, lax := &Host{Key: "db 3 a", tls: &tls.Config{}}, &Host{Key: "db 1 a", tls: &tls.Config{}}
	cache := func(vu int32, h *Host) tls.ClientSessionCache {
		return a.resuming(vu, h, &tls.Config{}).ClientSessionCache
	}
	has := func(vu int32, h *Host) bool {
		_, found := cache(vu, h).Get("h")
		return found
	}
	cache(1, lax).Put("h", &tls.ClientSessionState{})
	if !has(1, lax) || has(1, strict) || has(1, plain) || has(2, lax) {
		t.Error("a session of a client's own options is taken up elsewhere, or not at all")
	}
	cache(1, plain).Put("h", &tls.ClientSessionState{})
	if !has(1, other) || has(1, strict) || has(2, plain) {
		t.Error("a session of the workflow's options is taken up elsewhere, or not at all")
	}
	if cache(1, lax).Put("h", nil); has(1, lax) || !has(1, plain) {
		t.Error("a session that the server rejects is kept, or another one goes with it")
	}
}
