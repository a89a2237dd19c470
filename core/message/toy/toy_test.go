package toy_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/message/toy"
)

// The catalogue carried these frames once. Production rejects each as of an unknown
// kind, and the toy keeps the size that its frame had.
func TestCatalogueRejectsToys(t *testing.T) {
	for _, name := range []string{"Ping", "Ack", "Gossip", "Order"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "frames", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		code, values, _ := strings.Cut(string(raw), "\n")
		frame, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := message.Decode(frame); !errors.Is(err, message.ErrFrame) || !strings.Contains(err.Error(), "is not in the catalogue") {
			t.Errorf("a frame of %s is decoded as %v, %v; want an unknown kind", name, m, err)
		}
		m := toy.New(name)
		if err := json.Unmarshal([]byte(values), m); err != nil {
			t.Fatal(err)
		}
		if want := len(frame) - message.HeaderSize; m.Size() != want {
			t.Errorf("the size of %s is %d, its frame had %d bytes", name, m.Size(), want)
		}
		if message.New(m.Kind()) != nil || message.Name(m.Kind()) != "" {
			t.Errorf("the catalogue uses the kind %d of %s again", m.Kind(), name)
		}
		if _, err := message.Append(nil, m); err == nil {
			t.Errorf("production encodes %s", name)
		}
		c, _, err := message.Clone(m, nil)
		if diff := cmp.Diff(m, c); err != nil || diff != "" || c == m || c.Digest() != m.Digest() {
			t.Errorf("the copy of %s (%v) differs:\n%s", name, err, diff)
		}
	}
}
