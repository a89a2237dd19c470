package digest

import (
	"slices"
	"strings"
)

// Wallet holds the sessions of one virtual user, so that no two of them use one nonce count. The
// zero value is empty.
type Wallet struct{ all []entry }

// Credential names a user, its password and the host that wants a proof of it.
type Credential struct{ Host, User, Password string }

// entry is a session with a part of a host.
type entry struct {
	of      Credential
	path    string // where the host asked for it
	session *Session
}

// sessionsMax bounds the sessions of one user. The one begun first makes room.
const sessionsMax = 16

// near is how many bytes of a path lead to where the host asked.
func (e *entry) near(path string) int {
	n := 0
	for n < len(path) && n < len(e.path) && path[n] == e.path[n] {
		n++
	}
	return n
}

// Session finds the session for a request: the one that the host asked for at the nearest path.
// A host may have several parts with a realm each; a wrong guess costs a challenge. Nil: none.
func (w *Wallet) Session(of Credential, path string) *Session {
	if w == nil {
		return nil
	}
	var best *entry
	for i := range w.all {
		e := &w.all[i]
		if e.of != of || e.session.spent() {
			continue
		}
		if best == nil || e.near(path) > best.near(path) || e.near(path) == best.near(path) && len(e.path) < len(best.path) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	return best.session
}

// Begin answers a challenge with a new session, in place of one with the same realm.
func (w *Wallet) Begin(of Credential, path string, c Challenge, cnonce string) {
	w.all = slices.DeleteFunc(w.all, func(e entry) bool {
		old := &e.session.challenge
		return e.of == of && old.Realm == c.Realm && old.Algorithm == c.Algorithm
	})
	if len(w.all) == sessionsMax {
		w.all = slices.Delete(w.all, 0, 1)
	}
	path, _, _ = strings.Cut(path, "?")
	w.all = append(w.all, entry{of, path, NewSession(c, of.User, of.Password, cnonce)})
}

// Drop ends a session that proved nothing.
func (w *Wallet) Drop(s *Session) {
	if w != nil {
		w.all = slices.DeleteFunc(w.all, func(e entry) bool { return e.session == s })
	}
}
