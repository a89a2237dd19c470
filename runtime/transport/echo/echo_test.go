package echo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// An answer reads back as it was written, and has the size of its question. A set that has no room is left out,
// and the answer says so.
func TestAnswersReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(SizeMin, SizeMax).Draw(t, "size")
		nonce := rapid.Uint64().Draw(t, "nonce")
		of := Scope(rapid.SliceOfN(rapid.Byte(), digestLength, digestLength).Draw(t, "scope"))
		n := Node{
			Awake: rapid.Int64().Draw(t, "awake"), Wall: rapid.Int64().Draw(t, "wall"), Role: rapid.Byte().Draw(t, "role"),
			ID: rapid.StringN(1, 128, 128).Draw(t, "id"), Set: rapid.SliceOfN(rapid.StringN(1, 64, 64), 1, 20).Draw(t, "set"),
			Leases: Leases{time.Duration(rapid.Int64Min(1).Draw(t, "lease")), time.Duration(rapid.Int64Min(1).Draw(t, "subjob lease"))},
			Sinks:  rapid.StringN(0, 16, 64).Draw(t, "sinks"),
		}
		q := AppendQuestion(nil, of, nonce, size)
		gotScope, gotNonce, err := Question(q)
		if err != nil || len(q) != size || gotScope != of || gotNonce != nonce {
			t.Fatalf("%d bytes, %v, %d, %v: want %d bytes, %v, %d", len(q), gotScope, gotNonce, err, size, of, nonce)
		}
		a := AppendAnswer(nil, of, nonce, size, &n)
		_, gotNonce, got, err := Answer(a)
		if err != nil || len(a) != size || gotNonce != nonce {
			t.Fatalf("%d bytes, %d, %v: want %d bytes (ECHO-1), %d", len(a), gotNonce, err, size, nonce)
		}
		if got.Leases == (Leases{}) {
			if least := headLength + bodyLength + 2 + len(n.ID) + 2; size-least >= leasesLength && got.Cut {
				t.Fatalf("%d bytes have room for the leases", size)
			}
			got.Leases = n.Leases
		}
		if got.Sinks == "" {
			used := headLength + bodyLength + 2 + len(n.ID) + 2 + leasesLength + 2 + len(n.Sinks)
			for _, member := range got.Set {
				used += 2 + len(member)
			}
			if n.Sinks != "" && used <= size {
				t.Fatalf("%d bytes have room for the sinks", size)
			}
			got.Sinks = n.Sinks
		}
		if got.Cut {
			got.Set, got.Cut = append(got.Set, n.Set...), false
		}
		if diff := cmp.Diff(n, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// An answer of a version without leases, which has padding there, has none.
func TestOlderAnswersHaveNoLeases(t *testing.T) {
	for _, size := range []int{SizeMin, SizeMax} {
		n := Node{ID: "gate-1", Set: []string{"a:1", "b:2"}}
		_, _, got, err := Answer(AppendAnswer(nil, Scope{1}, 7, size, &n))
		if err != nil || got.Leases != (Leases{}) || len(got.Set) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

// FuzzEcho: each question that is taken has an answer of its size, whatever the node. What is read as an answer is one, and nothing is read as both.
func FuzzEcho(f *testing.F) {
	f.Add(AppendQuestion(nil, Scope{1}, 7, SizeMin))
	f.Add(AppendAnswer(nil, Scope{1}, 7, SizeMin, &Node{ID: "gate-1", Set: []string{"a:1", "b:2"}}))
	f.Add(AppendQuestion(nil, Scope{1}, 7, headLength))
	f.Add(AppendQuestion(nil, Scope{1}, 7, SizeMin-1))
	f.Fuzz(func(t *testing.T, b []byte) {
		of, nonce, asked := Question(b)
		if asked == nil {
			for _, n := range []Node{{ID: "g"}, {ID: strings.Repeat("g", nameMax), Set: []string{strings.Repeat("s", nameMax)}}} {
				if a := AppendAnswer(nil, of, nonce, len(b), &n); len(a) != len(b) {
					t.Fatalf("%d bytes answer %d (ECHO-1)", len(a), len(b))
				}
			}
		}
		_, _, n, answered := Answer(b)
		if asked == nil && answered == nil {
			t.Fatal("a question and an answer")
		}
		if n.Lease < 0 || n.SubjobLease < 0 {
			t.Fatalf("leases %v", n.Leases)
		}
		if answered == nil && (len(n.ID) > 3*nameMax || len(n.Set) > setMax) {
			t.Fatalf("%d bytes of a name, %d members", len(n.ID), len(n.Set))
		}
	})
}
