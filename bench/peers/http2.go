package main

import (
	"bufio"
	"bytes"
	"io"
	"net"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// batching is a server of HTTP/2 without TLS that answers all that one read brought
// with one write. No header is decoded: the answer is the same whatever was asked.
//
// It keeps no send window. At most 256 streams are answered with 40 bytes each
// before a client reads, which fits any client that opens its window again when
// half of the initial 64 KiB has been used.
type batching struct {
	listener net.Listener
	header   []byte
	counter  *counter
}

func newBatching(c serverConfig, n *counter) (*batching, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	var header bytes.Buffer
	encoder := hpack.NewEncoder(&header)
	encoder.SetMaxDynamicTableSize(0)
	for _, field := range [][2]string{{":status", "200"}, {"server", "batching"}, {"content-type", "text/plain"}, {"content-length", "40"}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			return nil, err
		}
	}
	return &batching{listener, header.Bytes(), n}, nil
}

func (b *batching) serve() error {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }() // whoever called has gone
			_ = b.connection(c)              // how a client leaves is its own business
		}()
	}
}

func (b *batching) connection(c net.Conn) error {
	in, out := bufio.NewReaderSize(c, 32<<10), bufio.NewWriterSize(c, 64<<10)
	if _, err := io.CopyN(io.Discard, in, int64(len(http2.ClientPreface))); err != nil {
		return err
	}
	framer := http2.NewFramer(out, in)
	framer.SetReuseFrames()
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 256}); err != nil {
		return err
	}
	if err := framer.WriteWindowUpdate(0, 1<<30); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	body := []byte("0123456789012345678901234567890123456789")
	answered := uint64(0)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				err = framer.WritePing(true, frame.Data)
			}
		case *http2.HeadersFrame:
			answered++
			err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: b.header, EndHeaders: true})
			if err == nil {
				err = framer.WriteData(frame.StreamID, true, body)
			}
		}
		if err == nil && in.Buffered() == 0 {
			b.counter.requests.Add(answered)
			answered = 0
			err = out.Flush()
		}
		if err != nil {
			return err
		}
	}
}
