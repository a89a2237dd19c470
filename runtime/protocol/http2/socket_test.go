package http2

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// batch answers every request of a connection with the same two frames, and all requests of one
// read in one write. It is the fastest possible server, so that the benchmark measures the
// client.
func batch(conn net.Conn) {
	defer conn.Close()
	in := make([]byte, 0, 1<<17)
	if _, err := io.ReadFull(conn, in[:24]); err != nil {
		return
	}
	out := []byte(script{}.settings(settingStreams, 1000))
	block := fieldsBlock(":status", "200", "content-type", "text/plain", "content-length", "13")
	for {
		n, err := conn.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		rest := in[:len(in)+n]
		for len(rest) >= frameHead && len(rest) >= frameHead+payloadLen(rest) {
			f := parseFrame(rest)
			rest = rest[frameHead+f.length:]
			switch {
			case f.kind == typeSettings && f.flags&flagAck == 0:
				out = appendFrame(out, 0, typeSettings, flagAck, 0)
			case f.kind == typeHeaders:
				out = append(appendFrame(out, len(block), typeHeaders, flagEndHeaders, f.stream), block...)
				out = append(appendFrame(out, 13, typeData, flagEndStream, f.stream), "Hello, World!"...)
			}
		}
		in = in[:copy(in[:cap(in)], rest)]
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
	}
}

// client is one connection of BenchmarkSockets.
type client struct {
	Conn
	file *os.File
	fd   int
}

func dial(b *testing.B, address string, streams int) *client {
	socket, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer socket.Close()
	file, err := socket.(*net.TCPConn).File()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	c := &client{file: file, fd: int(file.Fd())} // Fd makes it blocking: a turn is one read, one write
	c.Reset(Config{Streams: streams})
	return c
}

func (c *client) flush(b *testing.B) {
	n, err := unix.Write(c.fd, c.Output())
	if err != nil {
		b.Fatal(err)
	}
	c.Sent(n)
}

// BenchmarkSockets: an iteration is one request over loopback TCP; cpu-ns/op is what the
// client's thread alone used, the kernel's part included.
func BenchmarkSockets(b *testing.B) {
	for _, bb := range []struct {
		name           string
		conns, streams int
	}{{"8x16", 8, 16}, {"1x100", 1, 100}, {"64x1", 64, 1}} {
		b.Run(bb.name, func(b *testing.B) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go batch(conn)
				}
			}()
			call := mustCompile(b, http1.Request{Method: "GET", URL: "http://127.0.0.1:8080/plaintext"})
			var clients []*client
			for range bb.conns {
				clients = append(clients, dial(b, listener.Addr().String(), bb.streams))
			}
			crowded(b, clients, call)
		})
	}
}

func crowded(b *testing.B, clients []*client, call *codec.Operation) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var on discard
	buffer := make([]byte, 64<<10)
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &before); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for on.done < b.N {
		for _, c := range clients {
			for c.CanOpen() {
				c.Open(call, 1, nil)
			}
			if len(c.Output()) > 0 {
				c.flush(b)
			}
		}
		for _, c := range clients {
			n, err := unix.Read(c.fd, buffer)
			if err == nil && n == 0 {
				err = io.EOF
			}
			if err == nil {
				err = c.Feed(buffer[:n], &on)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &after); err != nil {
		b.Fatal(err)
	}
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N), "user-ns/op")
}
