package kafka

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
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
	out     bytes.Buffer
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
