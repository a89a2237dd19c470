package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hyperscale/runtime/epoll"
)

// amqpAck is how many bytes a confirm has.
const amqpAck = 21

// floorShared is a bare loop whose users have channels of a connection each: it reads the channels of the confirms
// that came, and writes their next publications at once.
func floorShared(c loopConfig) (done, failed uint64, err error) {
	poller, err := epoll.New()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = poller.Close() }() // nothing is under way
	requests, out := make([][]byte, c.Streams+1), []byte(nil)
	for channel := 1; channel <= c.Streams; channel++ {
		requests[channel] = amqpPublication(uint16(channel), c.Size)
		out = append(out, requests[channel]...)
	}
	fds := make([]int, c.Connections)
	for i := range fds {
		if fds[i], err = openShared(c); err != nil {
			return done, failed + 1, err
		}
		defer epoll.Close(fds[i])
		if err := poller.Add(fds[i], epoll.In, uint64(i)); err != nil {
			return done, failed, err
		}
	}
	for _, fd := range fds {
		if n, errno := epoll.Write(fd, out); errno != 0 || n != len(out) {
			return done, failed + 1, fmt.Errorf("wrote %d of %d bytes: %w", n, len(out), errno)
		}
	}
	events, buffer, rest := make([]epoll.Event, 512), make([]byte, 64<<10), make([][]byte, len(fds))
	for until := time.Now().Add(c.Duration); time.Now().Before(until); {
		n, err := poller.Block(events, 100*time.Millisecond)
		if err != nil {
			return done, failed + 1, err
		}
		for i := range events[:n] {
			at := int(events[i].Token())
			kept := copy(buffer, rest[at])
			n, errno := epoll.Read(fds[at], buffer[kept:])
			if errno != 0 || n <= 0 {
				return done, failed + 1, fmt.Errorf("read %d bytes: %w", n, errno)
			}
			in := buffer[:kept+n]
			for out = out[:0]; len(in) >= amqpAck; in = in[amqpAck:] {
				channel := int(binary.BigEndian.Uint16(in[1:]))
				if in[0] != 1 || channel == 0 || channel > c.Streams {
					return done, failed + 1, fmt.Errorf("no confirm: %x", in[:amqpAck])
				}
				out = append(out, requests[channel]...)
				done++
			}
			rest[at] = append(rest[at][:0], in...)
			if n, errno := epoll.Write(fds[at], out); errno != 0 || n != len(out) {
				return done, failed + 1, fmt.Errorf("wrote %d of %d bytes: %w", n, len(out), errno)
			}
		}
	}
	return done, failed, nil
}

// openShared connects, and opens the channels.
func openShared(c loopConfig) (fd int, err error) {
	conn, err := net.Dial("tcp", c.Address)
	if err != nil {
		return -1, err
	}
	defer func() { _ = conn.Close() }() // a copy of it lives on
	ask, err := amqpOpened(conn)
	if err != nil {
		return -1, err
	}
	for channel := 1; channel <= c.Streams; channel++ {
		if err := amqpConfirming(ask, uint16(channel)); err != nil {
			return -1, err
		}
	}
	return descriptor(conn)
}

// ftpReader is a control connection of floorFTP, and the file that it reads.
type ftpReader struct {
	control, data int // data below 0: it is closed
	said          []byte
	bytes         int
	ended         bool // the server says that the file is over
}

// floorFTP is a bare loop that reads files: it asks for a port, connects to it, asks for the file, and reads it to its end.
func floorFTP(c loopConfig) (done, failed uint64, err error) {
	to, err := netip.ParseAddrPort(c.Address)
	if err != nil {
		return 0, 0, err
	}
	poller, err := epoll.New()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = poller.Close() }() // nothing is under way
	all := make([]ftpReader, c.Connections)
	for i := range all {
		all[i].data = -1
		if all[i].control, err = ftpGreeted(c.Address); err != nil {
			return done, failed + 1, err
		}
		defer epoll.Close(all[i].control)
		if err := poller.Add(all[i].control, epoll.In, uint64(2*i)); err != nil {
			return done, failed, err
		}
		if _, errno := epoll.Write(all[i].control, []byte("EPSV\r\n")); errno != 0 {
			return done, failed + 1, errno
		}
	}
	events, buffer := make([]epoll.Event, 512), make([]byte, 64<<10)
	for until := time.Now().Add(c.Duration); time.Now().Before(until); {
		n, err := poller.Block(events, 100*time.Millisecond)
		if err != nil {
			return done, failed + 1, err
		}
		for i := range events[:n] {
			token := events[i].Token()
			r := &all[token/2]
			if token%2 == 1 {
				err = r.reads(buffer)
			} else {
				err = r.hears(poller, buffer, to.Addr(), token+1)
			}
			if err != nil {
				return done, failed + 1, err
			}
			if !r.ended || r.data >= 0 {
				continue
			}
			if r.bytes != c.Size {
				return done, failed + 1, fmt.Errorf("a file of %d bytes, want %d", r.bytes, c.Size)
			}
			r.ended, r.bytes = false, 0
			done++
			if _, errno := epoll.Write(r.control, []byte("EPSV\r\n")); errno != 0 {
				return done, failed + 1, errno
			}
		}
	}
	return done, failed, nil
}

// reads reads the file.
func (r *ftpReader) reads(buffer []byte) error {
	for r.data >= 0 {
		n, errno := epoll.Read(r.data, buffer)
		switch {
		case errors.Is(errno, syscall.EAGAIN):
			return nil
		case errno != 0:
			return errno
		case n == 0:
			epoll.Close(r.data)
			r.data = -1
		}
		r.bytes += n
	}
	return nil
}

// hears reads lines of the server, and does what they ask for.
func (r *ftpReader) hears(poller *epoll.Poller, buffer []byte, host netip.Addr, token uint64) error {
	n, errno := epoll.Read(r.control, buffer)
	if errno != 0 || n <= 0 {
		return fmt.Errorf("read %d bytes: %w", n, errno)
	}
	r.said = append(r.said, buffer[:n]...)
	for {
		line, rest, whole := bytes.Cut(r.said, []byte("\r\n"))
		if !whole {
			return nil
		}
		switch {
		case bytes.HasPrefix(line, []byte("229 ")):
			_, port, _ := bytes.Cut(line, []byte("(|||"))
			number, err := strconv.ParseUint(strings.TrimRight(string(port), "|)."), 10, 16)
			if err != nil {
				return err
			}
			if r.data, _, err = epoll.DialQuiet(netip.AddrPortFrom(host, uint16(number)), netip.Addr{}); err != nil {
				return err
			}
			if err := poller.Add(r.data, epoll.In, token); err != nil {
				return err
			}
			if _, errno := epoll.Write(r.control, []byte("RETR vsftpd.file\r\n")); errno != 0 {
				return errno
			}
		case bytes.HasPrefix(line, []byte("226 ")):
			r.ended = true
		case !bytes.HasPrefix(line, []byte("150 ")):
			return fmt.Errorf("the server says %q", line)
		}
		r.said = append(r.said[:0], rest...)
	}
}

// ftpGreeted signs a user in.
func ftpGreeted(address string) (fd int, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return -1, err
	}
	defer func() { _ = c.Close() }() // a copy of it lives on
	in := bufio.NewReader(c)
	for _, step := range []struct{ say, want string }{{"", "220 "}, {"USER anonymous\r\n", "331 "}, {"PASS " + ftpPassword + "\r\n", "230 "}, {"TYPE I\r\n", "200 "}} {
		if _, err := io.WriteString(c, step.say); err != nil {
			return -1, err
		}
		line, err := in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, step.want) {
			return -1, fmt.Errorf("the server says %q: %v", line, err)
		}
	}
	return descriptor(c)
}
