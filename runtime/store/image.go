package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The layout of bbolt's pages. Its own check panics on some pages that make no sense, and maps
// the file, so that a file that is cut off ends the process: this one reads with bounds.
const (
	pageHead    = 16 // id, flags, count, overflow
	elementSize = 16
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSum     = 56 // bytes that the checksum behind them covers
	pageSizeMin = 512
	pageSizeMax = 64 << 10
	depthMax    = 64

	pageBranch = 0x01
	pageLeaf   = 0x02
	isBucket   = 0x01
	noFreelist = ^uint64(0)

	transactionMade = 1 // the last one of bbolt's own
	damagesMax      = 100
	inlinedHead     = 16 // of a bucket that stands in its parent's page
)

// image reads a store's file page by page.
type image struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	pages    uint64 // below this number
	seen     map[uint64]bool
	written  bool // by a node, beyond what bbolt writes when it makes the file
	found    []DamageError
	entry    func(bucket string, key, value []byte)
}

func (m *image) damaged(where, format string, args ...any) {
	if len(m.found) < damagesMax {
		m.found = append(m.found, DamageError{Where: where, What: fmt.Sprintf(format, args...)})
	}
}

type metaPage struct {
	root, freelist, pages, transaction uint64
	pageSize                           int64
}

// meta reads one of the two first pages: each transaction writes the other one.
func (m *image) meta(at int64) (p metaPage, err error) {
	b := make([]byte, pageHead+metaSum+8)
	if _, err := m.file.ReadAt(b, at); err != nil {
		return p, fmt.Errorf("cannot be read: %w", err)
	}
	b = b[pageHead:]
	le := binary.LittleEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSum]) // a hash takes all
	switch {
	case le.Uint32(b) != metaMagic:
		return p, errors.New("is no page of a store")
	case le.Uint32(b[4:]) != metaVersion:
		return p, fmt.Errorf("has version %d, this program reads %d", le.Uint32(b[4:]), metaVersion)
	case le.Uint64(b[metaSum:]) != sum.Sum64():
		return p, errors.New("does not match its checksum")
	}
	p.pageSize, p.root, p.freelist = int64(le.Uint32(b[8:])), le.Uint64(b[16:]), le.Uint64(b[32:])
	p.pages, p.transaction = le.Uint64(b[40:]), le.Uint64(b[48:])
	if p.pageSize < pageSizeMin || p.pageSize > pageSizeMax || p.pageSize&(p.pageSize-1) != 0 {
		return p, fmt.Errorf("has pages of %d bytes", p.pageSize)
	}
	return p, nil
}

// newest returns the meta page that counts. Both must be good: with one alone the store would go
// back to before its last write, which others rely on.
func (m *image) newest() (metaPage, bool) {
	first, err := m.meta(0)
	m.pageSize = first.pageSize
	if err != nil {
		m.damaged("page 0", "%v", err)
		m.pageSize = int64(os.Getpagesize())
	}
	second, err := m.meta(m.pageSize)
	if err != nil {
		m.damaged("page 1", "%v", err)
	}
	if len(m.found) > 0 {
		return first, false
	}
	if second.pageSize != first.pageSize || first.transaction+1 != second.transaction && second.transaction+1 != first.transaction {
		m.damaged("page 1", "does not follow page 0: transactions %d and %d", first.transaction, second.transaction)
		return first, false
	}
	if second.transaction > first.transaction {
		return second, true
	}
	return first, true
}

// walk visits all entries of all buckets.
func (m *image) walk() {
	meta, ok := m.newest()
	if !ok {
		return
	}
	m.pages, m.seen = meta.pages, map[uint64]bool{0: true, 1: true}
	m.written = meta.transaction > transactionMade
	if need := int64(m.pages) * m.pageSize; m.pages > 1<<40 || need > m.size {
		m.damaged("the file", "has %d bytes where its pages need %d: it is cut off", m.size, need)
		return
	}
	if meta.freelist != noFreelist {
		m.seen[meta.freelist] = true
	}
	m.tree("", meta.root, nil, nil, 0)
}

// page reads a page with those that continue it, which belong to nothing else.
func (m *image) page(id uint64) ([]byte, bool) {
	where := fmt.Sprintf("page %d", id)
	if id < 2 || id >= m.pages {
		m.damaged(where, "is beyond the store's %d pages", m.pages)
		return nil, false
	}
	head := make([]byte, pageHead)
	if _, err := m.file.ReadAt(head, int64(id)*m.pageSize); err != nil {
		m.damaged(where, "cannot be read: %v", err)
		return nil, false
	}
	more := uint64(binary.LittleEndian.Uint32(head[12:]))
	if own := binary.LittleEndian.Uint64(head); own != id || more >= m.pages-id {
		m.damaged(where, "says that it is page %d, with %d that continue it", own, more)
		return nil, false
	}
	for k := id; k <= id+more; k++ {
		if m.seen[k] {
			m.damaged(where, "is used twice")
			return nil, false
		}
		m.seen[k] = true
	}
	b := make([]byte, int64(more+1)*m.pageSize)
	if _, err := m.file.ReadAt(b, int64(id)*m.pageSize); err != nil {
		m.damaged(where, "cannot be read: %v", err)
		return nil, false
	}
	return b, true
}

// tree visits the entries below a page, whose keys are from low on and below high.
func (m *image) tree(bucket string, id uint64, low, high []byte, depth int) {
	b, ok := m.page(id)
	switch {
	case !ok:
	case depth > depthMax:
		m.damaged(fmt.Sprintf("page %d", id), "lies more than %d deep", depthMax)
	default:
		m.elements(bucket, fmt.Sprintf("page %d", id), b, low, high, depth)
	}
}

// elements visits what a page lists.
func (m *image) elements(bucket, where string, b, low, high []byte, depth int) {
	le := binary.LittleEndian
	flags, count := le.Uint16(b[8:]), int(le.Uint16(b[10:]))
	if flags != pageBranch && flags != pageLeaf {
		m.damaged(where, "is neither a branch nor a leaf: %#x", flags)
		return
	}
	if pageHead+count*elementSize > len(b) {
		m.damaged(where, "lists %d elements, more than fit", count)
		return
	}
	keys := make([][]byte, count)
	before := low
	for i := range keys {
		e := b[pageHead+i*elementSize:]
		at, size := uint64(le.Uint32(e)), uint64(le.Uint32(e[4:]))
		if flags == pageLeaf {
			at, size = uint64(le.Uint32(e[4:])), uint64(le.Uint32(e[8:]))
		}
		if at+size > uint64(len(e)) {
			m.damaged(where, "has an element outside of it")
			return
		}
		keys[i] = e[at : at+size]
		if order := bytes.Compare(before, keys[i]); order > 0 || order == 0 && i > 0 || high != nil && bytes.Compare(keys[i], high) >= 0 {
			m.damaged(where, "has keys out of order")
			return
		}
		before = keys[i]
	}
	for i, key := range keys {
		e := b[pageHead+i*elementSize:]
		if flags == pageBranch {
			upper := high
			if i+1 < count {
				upper = keys[i+1]
			}
			m.tree(bucket, le.Uint64(e[8:]), key, upper, depth+1)
			continue
		}
		at, size := uint64(le.Uint32(e[4:]))+uint64(le.Uint32(e[8:])), uint64(le.Uint32(e[12:]))
		if at+size > uint64(len(e)) {
			m.damaged(where, "has a value outside of it")
			return
		}
		m.leaf(bucket, where, le.Uint32(e), key, e[at:at+size], depth)
	}
}

// leaf visits an entry: a record, or a bucket with a tree of its own.
func (m *image) leaf(bucket, where string, flags uint32, key, value []byte, depth int) {
	switch {
	case flags&isBucket == 0 && bucket == "":
		m.damaged(where, "has a record outside of a bucket")
	case flags&isBucket == 0:
		m.entry(bucket, key, value)
	case bucket != "":
		m.damaged(where, "has a bucket in a bucket")
	case len(value) < inlinedHead:
		m.damaged(where, "has a bucket of %d bytes", len(value))
	case binary.LittleEndian.Uint64(value) != 0:
		m.tree(string(key), binary.LittleEndian.Uint64(value), nil, nil, depth+1)
	case len(value) < inlinedHead+pageHead:
		m.damaged(where, "has a bucket of %d bytes", len(value))
	default:
		m.elements(string(key), where, value[inlinedHead:], nil, nil, depth+1)
	}
}
