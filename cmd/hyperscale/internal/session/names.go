package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/discovery"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/runtime/config"
)

// nameOf reads a --gate that is a name of several addresses.
func nameOf(gate string) (name node.Addr, named bool, err error) {
	if !discovery.Is(gate) {
		return "", false, nil
	}
	n, err := discovery.Parse(gate, config.PortGate)
	if err != nil {
		return "", true, command.Usage("--gate %q %w", gate, err)
	}
	return n.Addr(), true, nil
}

// Bounds of a cache's file.
const (
	cachedMax = 64 << 10 // bytes
	gatesMax  = 64
)

// cache is the file of the gates that clients of one cluster knew last. They ask them while no
// name leads to a gate.
type cache struct{ file string }

// cache returns the one of these names; its file is empty if the client has none, or if the
// machine has no place for it.
func (f *Flags) cache(names []node.Addr) cache {
	dir, err := os.UserCacheDir()
	if err != nil || len(names) == 0 {
		return cache{}
	}
	of := []string{f.Cluster, f.Environment}
	for _, n := range names {
		of = append(of, string(n))
	}
	digest := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return cache{file: filepath.Join(dir, "hyperscale", "gates", hex.EncodeToString(digest[:8]))}
}

// read returns the gates. A file that cannot be read, or that is no list of addresses, has none.
func (c cache) read() (all []node.Addr) {
	if c.file == "" {
		return nil
	}
	b, err := os.ReadFile(c.file)
	if err != nil || len(b) > cachedMax {
		return nil
	}
	for line := range bytes.Lines(b) {
		a := strings.TrimSpace(string(line))
		if host, port, ok := strings.Cut(a, ":"); !ok || host == "" || port == "" || discovery.Is(a) || slices.Contains(all, node.Addr(a)) || len(all) >= gatesMax {
			continue
		}
		all = append(all, node.Addr(a))
	}
	return all
}

// observe writes what the client learns: the whole file or none of it. A machine that cannot keep
// it loses a convenience.
func (c cache) observe(e node.Event) {
	known, ok := e.(event.GatesKnown)
	if !ok || c.file == "" {
		return
	}
	text := []byte(strings.Join(known.Gates, "\n") + "\n")
	if b, err := os.ReadFile(c.file); err == nil && bytes.Equal(b, text) {
		return
	}
	dir := filepath.Dir(c.file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	t, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = t.Write(text)
	if t.Close() != nil || err != nil || os.Rename(t.Name(), c.file) != nil {
		_ = os.Remove(t.Name()) // nothing reads it
	}
}
