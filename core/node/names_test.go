package node_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// Distinct values have distinct names: a word for each constant, and for any other
// number a text with that number.
func TestValuesHaveDistinctNames(t *testing.T) {
	word := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]struct {
			name        string
			first, last uint8
			text        func(uint8) string
		}{
			{"role", uint8(node.RoleClient), uint8(node.RoleToy), func(v uint8) string { return node.Role(v).String() }},
			{"full", 0, uint8(node.Drop), func(v uint8) string { return node.Full(v).String() }},
			{"priority", 0, node.Priorities - 1, func(v uint8) string { return node.Priority(v).String() }},
			{"verdict", uint8(node.DeliveryNone), uint8(node.DeliveryUnconfigured), func(v uint8) string { return node.DeliveryVerdict(v).String() }},
			{"input", uint8(node.InputNone), uint8(node.InputCommandEnd), func(v uint8) string { return node.InputKind(v).String() }},
		}).Draw(t, "kind")
		value := rapid.OneOf(rapid.ByteRange(0, kind.last+1), rapid.Byte())
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		if (kind.text(a) == kind.text(b)) != (a == b) {
			t.Fatalf("%ss %d and %d are %q and %q", kind.name, a, b, kind.text(a), kind.text(b))
		}
		named := a >= kind.first && a <= kind.last
		if word.MatchString(kind.text(a)) != named || !named && kind.text(a) != fmt.Sprintf("%s(%d)", kind.name, a) {
			t.Fatalf("%s %d is %q", kind.name, a, kind.text(a))
		}
		if r := node.Role(a); kind.name == "role" && r.Valid() != named {
			t.Fatalf("role %v is valid: %v", r, r.Valid())
		}
	})
}

// The texts of nodes' incarnations and of timers that KeyN names are distinct.
func TestTextsTellRunsAndTimersApart(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64())
	peer := rapid.Custom(func(t *rapid.T) node.Peer {
		return node.Peer{ID: node.ID(rapid.StringMatching(`[a-c][0-9]?`).Draw(t, "id")), Incarnation: number.Draw(t, "incarnation")}
	})
	key := rapid.Custom(func(t *rapid.T) node.TimerKey {
		return node.KeyN(node.Part(rapid.IntRange(0, 12).Draw(t, "part")), rapid.Uint8Range(0, 12).Draw(t, "kind"), number.Draw(t, "n"))
	})
	rapid.Check(t, func(t *rapid.T) {
		if p, q := peer.Draw(t, "p"), peer.Draw(t, "q"); (p.String() == q.String()) != (p == q) {
			t.Fatalf("%+v and %+v are %v and %v", p, q, p, q)
		}
		k, l := key.Draw(t, "k"), key.Draw(t, "l")
		if (k.String() == l.String()) != (k == l) || strings.Contains(k.String(), " ") != (k.N() != 0) {
			t.Fatalf("%#v and %#v are %v and %v", k, l, k, l)
		}
	})
}

// An id is the next two numbers of its stream, so that no two draws share one. Impossible
// bounds stop the node.
func TestDrawnIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		r, twin := node.NewRand(seed, "n", node.PurposeID), node.NewRand(seed, "n", node.PurposeID)
		seen := map[[16]byte]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "ids") {
			id, want := r.ID(), fmt.Sprintf("%016x%016x", twin.Uint64(), twin.Uint64())
			if got := fmt.Sprintf("%x", id); got != want || seen[id] {
				t.Fatalf("id %s, want %s, and new: %v", got, want, !seen[id])
			}
			seen[id] = true
		}
		low := time.Duration(rapid.Int64().Draw(t, "low") / 2)
		if got := bug(func() { r.N(0) }); got != "bug: rand: N(0)" {
			t.Fatalf("a number below none: %q", got)
		}
		if got := bug(func() { r.Duration(low, low-1) }); !strings.HasPrefix(got, "bug: rand: duration between ") {
			t.Fatalf("a duration between %v and less: %q", low, got)
		}
	})
}

// bug returns the value that a call panics with.
func bug(call func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	call()
	return ""
}
