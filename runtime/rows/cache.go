package rows

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"hyperscale/core/message"
)

// Cache has the sheets that runs of this machine use, each read once.
type Cache struct {
	folder string // that an operator named; empty: none

	mu     sync.Mutex
	sheets map[message.FileDigest]*entry
}

type entry struct {
	uses  int
	ready chan struct{} // closed when sheet or err is set
	sheet *Sheet
	err   error
}

// NewCache returns one of a folder's files.
func NewCache(folder string) *Cache {
	return &Cache{folder: folder, sheets: map[message.FileDigest]*entry{}}
}

// Open returns the sheet that a program names, and reads it if no run has it. It blocks
// for as long as that takes. Each needs a Close.
func (c *Cache) Open(name *message.FeedFile) (*Sheet, error) {
	c.mu.Lock()
	e := c.sheets[name.Digest]
	if e == nil {
		e = &entry{ready: make(chan struct{})}
		c.sheets[name.Digest] = e
		go func() {
			e.sheet, e.err = c.read(name)
			close(e.ready)
		}()
	}
	e.uses++
	c.mu.Unlock()
	<-e.ready
	if e.err != nil {
		c.Close(name)
	}
	return e.sheet, e.err
}

// Close ends one use.
func (c *Cache) Close(name *message.FeedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.sheets[name.Digest]
	if e.uses--; e.uses > 0 {
		return
	}
	delete(c.sheets, name.Digest)
	if e.sheet != nil {
		_ = e.sheet.Close() // a process that maps it keeps it
	}
}

// read reads a file and looks that it is the one that was submitted.
func (c *Cache) read(name *message.FeedFile) (*Sheet, error) {
	const remedy = "put the file that was submitted into the folder that this worker's --feeds names, at the same path"
	if c.folder == "" {
		return nil, fmt.Errorf("feed %q of %d bytes does not travel with its program, and this worker has no folder of feeds: start it with --feeds FOLDER and %s", name.Name, name.Bytes, remedy)
	}
	if !filepath.IsLocal(name.Name) {
		return nil, fmt.Errorf("feed %q is no path inside a folder", name.Name)
	}
	path := filepath.Join(c.folder, filepath.FromSlash(name.Name))
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && uint64(info.Size()) != name.Bytes {
		return nil, fmt.Errorf("feed %q has %d bytes here and %d where it was submitted: %s", name.Name, info.Size(), name.Bytes, remedy)
	}
	sheet, err := Read(path, name.JSON)
	if err != nil {
		return nil, fmt.Errorf("feed %q does not travel with its program: %w: %s", name.Name, err, remedy)
	}
	if sheet.name.Digest != name.Digest {
		_ = sheet.Close()
		return nil, fmt.Errorf("feed %q is another file here than where it was submitted: %s", name.Name, remedy)
	}
	return sheet, nil
}
