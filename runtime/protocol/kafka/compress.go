package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compression is the coding of a batch's records.
type Compression uint8

// The codings, by the numbers of the attributes of a batch.
const (
	Uncompressed Compression = 0
	Gzip         Compression = 1
	Snappy       Compression = 2
	LZ4          Compression = 3
	Zstd         Compression = 4
)

// zstdSince is the version of Produce from which on a broker takes zstd.
const zstdSince = 7

// Pool has the compressors of one loop, and the memory of records before them. The zero value is empty.
type Pool struct {
	records []byte
	gzip    *gzip.Writer
	zstd    *zstd.Encoder
	lz4     *lz4.Writer
	out     bytes.Buffer
	expander
}

// expander has what answers are read with.
type expander struct {
	spare   [][]byte // buffers of large answers
	fetched fetched
	gunzip  *gzip.Reader
	unzstd  *zstd.Decoder
	unlz4   *lz4.Reader
}

// compress appends records in a coding.
func (p *Pool) compress(dst []byte, by Compression, records []byte) []byte {
	switch by {
	case Gzip:
		if p.gzip == nil {
			p.gzip, _ = gzip.NewWriterLevel(nil, gzip.DefaultCompression) // the level is one
		}
		p.out.Reset()
		p.gzip.Reset(&p.out)
		_, _ = p.gzip.Write(records) // a buffer takes everything
		_ = p.gzip.Close()
		dst = append(dst, p.out.Bytes()...)
		if p.out.Cap() > bufferKept {
			p.out = bytes.Buffer{}
		}
	case LZ4:
		if p.lz4 == nil { // of one goroutine, which is the caller's
			p.lz4 = lz4.NewWriter(nil)
			_ = p.lz4.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)) // they are valid
		}
		p.out.Reset()
		p.lz4.Reset(&p.out)
		_, _ = p.lz4.Write(records) // a buffer takes everything
		_ = p.lz4.Close()
		dst = append(dst, p.out.Bytes()...)
		if p.out.Cap() > bufferKept {
			p.out = bytes.Buffer{}
		}
	case Snappy:
		dst = append(dst, snappy.Encode(nil, records)...)
	case Zstd:
		if p.zstd == nil { // of one goroutine, which is the caller's
			p.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(128<<10), zstd.WithZeroFrames(true))
		}
		dst = p.zstd.EncodeAll(records, dst)
	}
	return dst
}

// windowMost bounds the window of zstd, which is reserved before its bytes have come.
const windowMost = 16 << 20

// xerial begins snappy in blocks, as Java's library writes it: two numbers of versions follow.
const (
	xerial     = "\x82SNAPPY\x00"
	xerialHead = len(xerial) + 8
)

// expand appends what compressed bytes have been, and says what is wrong with them; empty: nothing is. It
// appends at most so many bytes.
func (p *Pool) expand(dst []byte, by Compression, b []byte, most int64) (out []byte, why string) {
	var err error
	start := len(dst)
	switch by {
	case Gzip:
		if p.gunzip == nil {
			p.gunzip = new(gzip.Reader)
		}
		if err = p.gunzip.Reset(bytes.NewReader(b)); err == nil {
			dst, err = readAll(dst, p.gunzip, most)
		}
	case LZ4:
		if p.unlz4 == nil {
			p.unlz4 = lz4.NewReader(nil)
		}
		p.unlz4.Reset(bytes.NewReader(b))
		dst, err = readAll(dst, p.unlz4, most)
	case Snappy:
		dst, err = unsnap(dst, b, most)
	case Zstd:
		if p.unzstd == nil { // of one goroutine, which is the caller's
			p.unzstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowMost))
		}
		if err = p.unzstd.Reset(bytes.NewReader(b)); err == nil {
			dst, err = readAll(dst, p.unzstd, most)
		}
	default:
		return dst, fmt.Sprintf("has the coding %d, which is none", by)
	}
	switch {
	case int64(len(dst)-start) > most:
		return dst[:start], fmt.Sprintf("has more than %d bytes when it is expanded: raise max_body", most)
	case err != nil:
		return dst[:start], fmt.Sprintf("cannot be expanded: %v", err)
	}
	return dst, ""
}

// readAll appends what a reader has, and one byte beyond the bound at most.
func readAll(dst []byte, r io.Reader, most int64) ([]byte, error) {
	left := most + 1
	for left > 0 {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		room := dst[len(dst):min(int64(cap(dst)), int64(len(dst))+left)]
		n, err := r.Read(room)
		dst, left = dst[:len(dst)+n], left-int64(n)
		switch {
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
	return dst, nil
}

// unsnap appends what snappy has compressed: one block, or those of Java's library.
func unsnap(dst, b []byte, most int64) ([]byte, error) {
	blocks := bytes.HasPrefix(b, []byte(xerial)) && len(b) >= xerialHead
	if blocks {
		b = b[xerialHead:]
	}
	start := len(dst)
	for ok := true; ok; ok = blocks && len(b) > 0 {
		block := b
		if blocks {
			if len(b) < 4 || int64(binary.BigEndian.Uint32(b)) > int64(len(b)-4) {
				return dst, io.ErrUnexpectedEOF
			}
			n := 4 + int(binary.BigEndian.Uint32(b))
			block, b = b[4:n], b[n:]
		}
		n, err := snappy.DecodedLen(block)
		if err != nil {
			return dst, err
		}
		if at := len(dst); int64(at-start+n) > most {
			return append(dst, make([]byte, max(0, most-int64(at-start)+1))...), nil
		}
		plain, err := snappy.Decode(nil, block)
		if err != nil {
			return dst, err
		}
		dst = append(dst, plain...)
	}
	return dst, nil
}
