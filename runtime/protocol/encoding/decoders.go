package encoding

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// decoder decodes one body after the other.
type decoder interface {
	decode(body []byte, limit int64) ([]byte, error)
	forget()
}

var pools = map[string]*sync.Pool{
	"gzip":    {New: func() any { return new(gzipDecoder) }},
	"x-gzip":  {New: func() any { return new(gzipDecoder) }},
	"deflate": {New: func() any { return new(deflateDecoder) }},
	"br":      {New: func() any { return new(brotliDecoder) }},
	"zstd":    {New: func() any { return new(zstdDecoder) }},
}

// nothing is what an idle decoder reads.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) ReadByte() (byte, error)  { return 0, io.EOF }

// early is an end where a head should be.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

type gzipDecoder struct{ r gzip.Reader }

func (d *gzipDecoder) decode(body []byte, limit int64) ([]byte, error) {
	if err := d.r.Reset(bytes.NewReader(body)); err != nil {
		return nil, early(err)
	}
	return drain(&d.r, len(body), limit)
}

func (d *gzipDecoder) forget() { _ = d.r.Reset(nothing{}) } // nothing has no head: that is the error

// deflateDecoder takes zlib, which the standard means, and bare deflate, which some send.
type deflateDecoder struct {
	zlib io.ReadCloser
	bare io.ReadCloser
}

func (d *deflateDecoder) decode(body []byte, limit int64) ([]byte, error) {
	if len(body) < 2 || body[0]&0x0f != 8 || (uint(body[0])<<8|uint(body[1]))%31 != 0 {
		if d.bare == nil {
			d.bare = flate.NewReader(nothing{})
		}
		if err := d.bare.(flate.Resetter).Reset(bytes.NewReader(body), nil); err != nil {
			return nil, err
		}
		return drain(d.bare, len(body), limit)
	}
	if d.zlib == nil {
		r, err := zlib.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, early(err)
		}
		d.zlib = r
	} else if err := d.zlib.(zlib.Resetter).Reset(bytes.NewReader(body), nil); err != nil {
		return nil, early(err)
	}
	return drain(d.zlib, len(body), limit)
}

func (d *deflateDecoder) forget() {
	if d.bare != nil {
		_ = d.bare.(flate.Resetter).Reset(nothing{}, nil)
	}
	if d.zlib != nil {
		_ = d.zlib.(zlib.Resetter).Reset(nothing{}, nil) // nothing has no head: that is the error
	}
}

type brotliDecoder struct{ r brotli.Reader }

func (d *brotliDecoder) decode(body []byte, limit int64) ([]byte, error) {
	if err := d.r.Reset(bytes.NewReader(body)); err != nil {
		return nil, err
	}
	return drain(&d.r, len(body), limit)
}

func (d *brotliDecoder) forget() { _ = d.r.Reset(nothing{}) }

// zstdDecoder runs no goroutine. Its window is what RFC 9659 allows on the web.
type zstdDecoder struct{ r *zstd.Decoder }

func (d *zstdDecoder) decode(body []byte, limit int64) ([]byte, error) {
	if d.r == nil {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, err
		}
		d.r = r
	}
	if err := d.r.Reset(bytes.NewReader(body)); err != nil {
		return nil, early(err)
	}
	return drain(d.r, len(body), limit)
}

func (d *zstdDecoder) forget() {
	if d.r != nil {
		_ = d.r.Reset(nothing{})
	}
}
