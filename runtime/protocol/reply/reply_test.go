package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/reply"
)

// read returns the replies of what a server says in pieces, and how that ends.
func read(said string, loose bool, piece func(left int) int) string {
	r := reply.Reader{Loose: loose}
	var out strings.Builder
	for b := []byte(said); len(b) > 0; {
		n := piece(len(b))
		some := b[:n]
		b = b[n:]
		for len(some) > 0 {
			one, used, err := r.Next(some)
			if some = some[used:]; err != nil {
				return out.String() + err.Error()
			}
			if one.Code != 0 {
				fmt.Fprintf(&out, "%d", one.Code)
				for line := range one.Lines() {
					fmt.Fprintf(&out, " %q", line)
				}
				out.WriteByte('\n')
			}
		}
	}
	return fmt.Sprintf("%s%v", out.String(), r.Partial())
}

// REPLY-1: however what a server says is cut, the replies are the same; a reader of whole prefixes finds the
// first one, too.
func TestRepliesAreTheSame(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		said := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"250", "-", " ", "ok", "\r", "\n", "\r\n", "550 no\r\n", "250-a\r\n", "250 b\r\n", " c\r\n", "9"}), 0, 12).Draw(r, "said"), "")
		loose := rapid.Bool().Draw(r, "loose")
		whole := read(said, loose, func(left int) int { return left })
		cut := read(said, loose, func(left int) int { return rapid.IntRange(1, left).Draw(r, "piece") })
		if cut != whole {
			r.Fatalf("%q: in pieces\n%s\nat once\n%s", said, cut, whole)
		}
		again := reply.Reader{Loose: loose}
		for n := range len(said) + 1 {
			one, used, err := again.Cut([]byte(said[:n]))
			if err != nil {
				break
			}
			if used > 0 {
				if want := fmt.Sprint(one.Code); used != n || !strings.HasPrefix(whole, want) {
					r.Fatalf("%q: %s with %d of %d bytes, want %s", said, want, used, n, whole)
				}
				break
			}
		}
	})
}

// A reply has its bound, in one line and in many.
func TestRepliesAreBounded(t *testing.T) {
	for name, said := range map[string]string{"a line": "250 " + strings.Repeat("x", reply.Most), "lines": strings.Repeat("250-x\r\n", reply.Most/7+2)} {
		for _, n := range []int{1, 1000, 1 << 30} {
			if got := read(said, false, func(left int) int { return min(left, n) }); !strings.Contains(got, "exceeds 64 KiB") {
				t.Errorf("%s in pieces of %d: %.60s", name, n, got)
			}
		}
	}
}
