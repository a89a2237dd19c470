package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cespare/xxhash/v2"

	"hyperscale/core/archive"
	"hyperscale/core/message"
)

// A backup begins with magic. Then come frames: 4 bytes of length, a kind, the body, and 8 bytes
// of checksum of kind and body. The last frame is the manifest. The SHA-256 of all before it ends
// the file.
const magic = "hyperscale-backup/1\n"

// The kinds of frames.
const (
	framePage     = 'p' // a message.BackupPage of registers
	frameFile     = 'f' // a digest, and the file
	frameManifest = 'm' // JSON
)

// bodyMax bounds a frame's body: a file is the longest.
const bodyMax = archive.FileMax + 64

// Schema is what manifests of this version say.
const Schema = "hyperscale.backup/v1"

// Manifest says what a backup holds.
type Manifest struct {
	Schema      string    `json:"schema"`
	Cluster     string    `json:"cluster"`
	Environment string    `json:"environment"`
	Version     string    `json:"version"` // of hyperscale
	Began       string    `json:"began"`   // RFC 3339
	Ended       string    `json:"ended"`
	Members     []string  `json:"members"` // the configured gates
	Epoch       uint64    `json:"epoch"`   // of their group
	Whole       bool      `json:"whole"`   // a majority of the members is in it
	Copies      []Copied  `json:"copies"`
	Missing     []Missing `json:"missing"` // members that are not in it
	Files       uint64    `json:"files"`   // each by its SHA-256
	FileBytes   uint64    `json:"file_bytes"`
	Absent      []string  `json:"absent"` // files of jobs that had not ended, which no member had
}

// Copied is the copy of one gate. A gate may have several: later ones know of jobs that ended since.
type Copied struct {
	Gate      string `json:"gate"`
	Addr      string `json:"addr"`
	Epoch     uint64 `json:"epoch"`
	Registers uint64 `json:"registers"`
	SHA256    string `json:"sha256"` // of its frames' bodies
}

// counted returns how many members have a copy of the backup's epoch.
func (m *Manifest) counted() int {
	of := map[string]bool{}
	for _, k := range m.Copies {
		if k.Epoch == m.Epoch {
			of[k.Addr] = true
		}
	}
	return len(of)
}

// Missing is a gate without a copy.
type Missing struct {
	Addr string `json:"addr"`
	Why  string `json:"why"`
}

// ErrBackup is wrapped by the error of everything that is no whole backup.
var ErrBackup = errors.New("this backup cannot be used")

func broken(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrBackup)...)
}

// Writer writes a backup.
type Writer struct {
	w    *bufio.Writer
	sum  hash.Hash
	head [5]byte
}

// NewWriter begins a backup.
func NewWriter(w io.Writer) (*Writer, error) {
	out := &Writer{w: bufio.NewWriterSize(w, 1<<20), sum: sha256.New()}
	return out, out.write([]byte(magic))
}

func (o *Writer) write(parts ...[]byte) error {
	for _, b := range parts {
		_, _ = o.sum.Write(b) // a hash takes all
		if _, err := o.w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (o *Writer) frame(kind byte, body ...[]byte) error {
	size := 0
	seal := xxhash.New()
	_, _ = seal.Write([]byte{kind})
	for _, b := range body {
		size += len(b)
		_, _ = seal.Write(b)
	}
	if size > bodyMax {
		return fmt.Errorf("a frame of %d bytes is above the bound of %d", size, bodyMax)
	}
	binary.BigEndian.PutUint32(o.head[:], uint32(size))
	o.head[4] = kind
	if err := o.write(o.head[:]); err != nil {
		return err
	}
	if err := o.write(body...); err != nil {
		return err
	}
	return o.write(binary.BigEndian.AppendUint64(nil, seal.Sum64()))
}

// Page writes a page of registers and returns its body, for the digest of the gate's copy.
func (o *Writer) Page(p *message.BackupPage) ([]byte, error) {
	body, err := p.MarshalMsg(nil)
	if err != nil {
		return nil, err
	}
	return body, o.frame(framePage, body)
}

// File writes a file.
func (o *Writer) File(b []byte) error {
	d := archive.DigestOf(b)
	return o.frame(frameFile, d[:], b)
}

// Close writes the manifest and the digest of all.
func (o *Writer) Close(m *Manifest) error {
	m.Schema = Schema
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := o.frame(frameManifest, body); err != nil {
		return err
	}
	if _, err := o.w.Write(o.sum.Sum(nil)); err != nil {
		return err
	}
	return o.w.Flush()
}

// Visitor takes what Scan reads. A nil field takes nothing.
type Visitor struct {
	Page func(*message.BackupPage) error
	File func(message.FileDigest, []byte) error
}

// Scan reads all of a backup, compares it with its checksums, and returns its manifest. What a
// visitor has seen counts only once Scan returns without an error. It holds one frame in memory.
func Scan(r io.Reader, v Visitor) (*Manifest, error) {
	s := scanner{r: bufio.NewReaderSize(r, 1<<20), sum: sha256.New(), visit: v, copies: map[string]*tally{}}
	if b, err := s.read(len(magic)); err != nil || string(b) != magic {
		return nil, broken("it does not begin like a backup")
	}
	for s.manifest == nil {
		if err := s.frame(); err != nil {
			return nil, err
		}
	}
	want := s.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(s.r, got); err != nil || !bytes.Equal(got, want) {
		return nil, broken("its bytes do not match their SHA-256")
	}
	if _, err := s.r.ReadByte(); err != io.EOF {
		return nil, broken("bytes follow its end")
	}
	if err := s.judge(); err != nil {
		return nil, err
	}
	return s.manifest, nil
}

type scanner struct {
	r        *bufio.Reader
	sum      hash.Hash
	buffer   []byte
	visit    Visitor
	manifest *Manifest
	copies   map[string]*tally // by address: the last copy of each
	ended    []*tally          // in the order in which they ended
	files    uint64
	bytes    uint64
}

// tally is what was read of one gate's copy.
type tally struct {
	addr      string
	registers uint64
	epoch     uint64
	last      message.JobID
	more      bool
	sum       hash.Hash
}

// read returns the next bytes, which the next call overwrites.
func (s *scanner) read(n int) ([]byte, error) {
	if cap(s.buffer) < n {
		s.buffer = make([]byte, n)
	}
	b := s.buffer[:n]
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, broken("it is cut off")
	}
	_, _ = s.sum.Write(b)
	return b, nil
}

func (s *scanner) frame() error {
	head, err := s.read(5)
	if err != nil {
		return err
	}
	size, kind := binary.BigEndian.Uint32(head), head[4]
	if size > bodyMax {
		return broken("a frame says that it has %d bytes, and %d are the most", size, bodyMax)
	}
	b, err := s.read(int(size) + 8)
	if err != nil {
		return err
	}
	body := b[:size]
	seal := xxhash.New()
	_, _ = seal.Write([]byte{kind})
	_, _ = seal.Write(body)
	if seal.Sum64() != binary.BigEndian.Uint64(b[size:]) {
		return broken("a frame does not match its checksum")
	}
	switch kind {
	case framePage:
		return s.page(body)
	case frameFile:
		return s.file(body)
	case frameManifest:
		return s.end(body)
	}
	return broken("it has a frame of kind %q: a newer version of hyperscale may have written it", kind)
}

func (s *scanner) page(body []byte) error {
	if n, err := message.Scan(body); err != nil || n != len(body) {
		return broken("a page of registers cannot be read")
	}
	var p message.BackupPage
	if rest, err := p.UnmarshalMsg(body); err != nil || len(rest) > 0 {
		return broken("a page of registers cannot be read")
	}
	t := s.copies[p.Addr]
	if t == nil || !t.more {
		t = &tally{addr: p.Addr, sum: sha256.New(), epoch: p.Epoch}
		s.copies[p.Addr] = t
	}
	if t.more = p.More; !t.more {
		s.ended = append(s.ended, t)
	}
	_, _ = t.sum.Write(body)
	for i := range p.Registers {
		if p.Registers[i].Job.Compare(t.last) <= 0 {
			return broken("the registers of %s are out of order", p.Addr)
		}
		t.last = p.Registers[i].Job
	}
	t.registers += uint64(len(p.Registers))
	if s.visit.Page == nil {
		return nil
	}
	return s.visit.Page(&p)
}

func (s *scanner) file(body []byte) error {
	var d message.FileDigest
	if len(body) <= len(d) {
		return broken("a file is empty")
	}
	copy(d[:], body)
	b := body[len(d):]
	if archive.DigestOf(b) != d {
		return broken("file %v does not match its digest", d)
	}
	s.files, s.bytes = s.files+1, s.bytes+uint64(len(b))
	if s.visit.File == nil {
		return nil
	}
	return s.visit.File(d, bytes.Clone(b))
}

func (s *scanner) end(body []byte) error {
	m := &Manifest{}
	if err := json.Unmarshal(body, m); err != nil || m.Schema != Schema {
		return broken("its manifest cannot be read")
	}
	s.manifest = m
	return nil
}

// judge compares what was read with the manifest.
func (s *scanner) judge() error {
	m := s.manifest
	for i := range min(len(m.Copies), len(s.ended)) {
		c, t := &m.Copies[i], s.ended[i]
		if t.addr != c.Addr || t.epoch != c.Epoch || t.registers != c.Registers || fmt.Sprintf("%x", t.sum.Sum(nil)) != c.SHA256 {
			return broken("the copy of %s is not the one of the manifest", c.Addr)
		}
	}
	for _, t := range s.copies {
		if t.more {
			return broken("the copy of %s has no end", t.addr)
		}
	}
	if len(m.Copies) != len(s.ended) || s.files != m.Files || s.bytes != m.FileBytes {
		return broken("its manifest lists %d copies and %d files, and %d and %d are there", len(m.Copies), m.Files, len(s.ended), s.files)
	}
	if counted := m.counted(); m.Whole != (counted >= len(m.Members)/2+1) {
		return broken("its manifest says whole: %v, and %d of %d members are in it", m.Whole, counted, len(m.Members))
	}
	return nil
}
