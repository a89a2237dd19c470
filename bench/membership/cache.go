package membership

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cache keeps what the peer's runs came to: they take a hundred times as long as
// ours, and depend on nothing that changes here but the experiment itself.
type cache struct {
	path       string
	Experiment string // what the outcomes belong to: another one empties the cache
	Outcomes   map[uint64]outcome
}

// experiment names all that the peer's outcome depends on besides its seed.
func experiment() string {
	return fmt.Sprint("memberlist v0.7.0, ", members, paused, loss, delayMin, delayMax, settled, crashes, ends, pauseMin, pauseMax, awakeMin, awakeMax, pausesEnd)
}

// openCache reads the file of HYPERSCALE_BENCH_CACHE; without one nothing is kept.
func openCache() (*cache, error) {
	c := &cache{path: os.Getenv("HYPERSCALE_BENCH_CACHE")}
	if c.path != "" {
		text, err := os.ReadFile(c.path)
		if err == nil {
			err = json.Unmarshal(text, c)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("HYPERSCALE_BENCH_CACHE = %q: %w: remove the file", c.path, err)
		}
	}
	if now := experiment(); c.Experiment != now || c.Outcomes == nil {
		c.Experiment, c.Outcomes = now, map[uint64]outcome{}
	}
	return c, nil
}

// keep writes an outcome down, whole or not at all.
func (c *cache) keep(seed uint64, o outcome) error {
	c.Outcomes[seed] = o
	if c.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		return err
	}
	half := c.path + ".new"
	if err := os.WriteFile(half, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(half, c.path)
}
