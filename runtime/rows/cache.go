package rows

import (
	"fmt"
	"path/filepath"
	"sync"

	"hyperscale/core/message"
)

// Cache has the sheets that runs of this machine use, each read once.
type Cache struct {
	folder string // that an operator named; empty: none

	mu     sync.Mutex
	sheets map[key]*entry
}

// key is a file, and what it is read as: rows have their marks behind them.
type key struct {
	digest      message.FileDigest
	json, whole bool
}

func keyOf(name *message.FeedFile) key { return key{name.Digest, name.JSON, name.Whole} }

type entry struct {
	uses  int
	ready chan struct{} // closed when sheet or err is set
	sheet *Sheet
	err   error
}

// NewCache returns one of a folder's files.
func NewCache(folder string) *Cache {
	return &Cache{folder: folder, sheets: map[key]*entry{}}
}

// Open returns the sheet that a program names, and reads it if no run has it. It blocks
// for as long as that takes. Each needs a Close.
func (c *Cache) Open(name *message.FeedFile) (*Sheet, error) {
	c.mu.Lock()
	e := c.sheets[keyOf(name)]
	if e == nil {
		e = &entry{ready: make(chan struct{})}
		c.sheets[keyOf(name)] = e
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
	e := c.sheets[keyOf(name)]
	if e.uses--; e.uses > 0 {
		return
	}
	delete(c.sheets, keyOf(name))
	if e.sheet != nil {
		_ = e.sheet.Close() // a process that maps it keeps it
	}
}

// read reads a file and looks that it is the one that was submitted.
func (c *Cache) read(name *message.FeedFile) (*Sheet, error) {
	const remedy = "put the file that was submitted into the folder that this worker's --feeds names, at the same path"
	if c.folder == "" {
		return nil, fmt.Errorf("%s of %d bytes does not travel with its program, and this worker has no folder of feeds: start it with --feeds FOLDER and %s", noun(name), name.Bytes, remedy)
	}
	if !filepath.IsLocal(name.Name) {
		return nil, fmt.Errorf("%s is no path inside a folder", noun(name))
	}
	f, size, err := open(c.folder, name.Name)
	if err != nil {
		return nil, fmt.Errorf("%s does not travel with its program: %w: %s", noun(name), err, remedy)
	}
	defer f.Close()
	if size != name.Bytes {
		return nil, fmt.Errorf("%s has %d bytes here and %d where it was submitted: %s", noun(name), size, name.Bytes, remedy)
	}
	sheet, err := readFrom(f, size, message.FeedFile{JSON: name.JSON, Whole: name.Whole})
	if err != nil {
		return nil, fmt.Errorf("%s does not travel with its program: %w: %s", noun(name), err, remedy)
	}
	if sheet.name.Digest != name.Digest {
		_ = sheet.Close()
		return nil, fmt.Errorf("%s is another file here than where it was submitted: %s", noun(name), remedy)
	}
	return sheet, nil
}
