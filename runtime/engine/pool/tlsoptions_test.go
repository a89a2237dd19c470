package pool

import (
	"crypto/tls"
	"net/netip"
	"testing"

	"hyperscale/runtime/protocol/http1"
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

// A look-up that ends between a connection's dial and its handshake may have the servers of a service in another order: the
// certificate stays that of the server that was dialled. The next connection's is that of the newest look-up.
func TestServicesNameDialledServers(t *testing.T) {
	h := NewTalkHost(&http1.Call{Host: "db.example.org"}, TalkHost{Key: "db", Service: "mongodb", Secure: true})
	at := netip.MustParseAddrPort("127.0.0.1:1")
	common := &tls.Config{ServerName: h.Name}
	name := func(of trial) string { return h.service.config(common, h, of).ServerName }
	h.Has(Found{Addrs: []netip.AddrPort{at, at, at}, targets: []string{"a", "b", "c"}})
	dialled := trial{first: 1, tried: 1, found: h.found}
	if got := name(dialled); got != "c" {
		t.Errorf("the certificate is that of %q, c was dialled", got)
	}
	h.Has(Found{Addrs: []netip.AddrPort{at, at}, targets: []string{"a", "c"}})
	if got := name(dialled); got != "c" {
		t.Errorf("the certificate is that of %q behind another look-up, c was dialled", got)
	}
	if got := name(trial{first: 2, found: h.found}); got != "a" {
		t.Errorf("the certificate is that of %q, a was dialled", got)
	}
	common.ServerName = "own.example.org"
	if got := name(dialled); got != common.ServerName {
		t.Errorf("the certificate is that of %q, the file names %q", got, common.ServerName)
	}
}
