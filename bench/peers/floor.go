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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gobwas/ws"

	"hyperscale/runtime/epoll"
)

// floors are greetings of protocols whose requests never change: a bare loop over epoll writes the same bytes
// again and again, and counts those of each answer. It reads no protocol, measures no latency and reports
// nothing: less processor time than it takes, no client on these system calls takes.
var floors = map[string]func(c net.Conn, size int) (request []byte, err error){
	"epoll-nats":      natsGreeted,
	"epoll-websocket": websocketGreeted,
	"epoll-mqtt":      mqttGreeted,
	"epoll-amqp":      amqpGreeted,
	"epoll-mysql":     mysqlGreeted,
}

// greeted is a connection behind its greeting and its first request.
type greeted struct {
	fd      int
	request []byte
	answer  int // bytes of each answer
}

// greetFor connects, greets and sends one request. The first connection (answer 0) learns how long an answer is.
func greetFor(name string, to netip.AddrPort, size, answer int) (g greeted, err error) {
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		return g, err
	}
	defer func() { _ = c.Close() }() // a copy of it lives on
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return g, err
	}
	g.answer = answer
	if g.request, err = floors[name](c, size); err == nil {
		_, err = c.Write(g.request)
	}
	if err == nil && answer > 0 {
		_, err = io.ReadFull(c, make([]byte, answer))
	} else if err == nil {
		g.answer, err = untilSilence(c)
	}
	if err != nil {
		return g, fmt.Errorf("%s: %w", name, err)
	}
	g.fd, err = descriptor(c)
	return g, err
}

// descriptor is a copy of a connection's.
func descriptor(c net.Conn) (fd int, err error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	copied := errors.New("the connection has no descriptor")
	if err := raw.Control(func(own uintptr) { fd, copied = syscall.Dup(int(own)) }); err != nil {
		return -1, err
	}
	return fd, copied
}

// untilSilence counts what comes until nothing comes for a while.
func untilSilence(c net.Conn) (n int, err error) {
	buffer := make([]byte, 64<<10)
	for {
		if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			return n, err
		}
		got, err := c.Read(buffer)
		n += got
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() && n > 0 {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// floorLoop is one thread that writes requests and counts the bytes of their answers.
func floorLoop(c loopConfig) (done, failed uint64, err error) {
	to, err := netip.ParseAddrPort(c.Address)
	if err != nil {
		return 0, 0, err
	}
	poller, err := epoll.New()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = poller.Close() }() // nothing is under way
	all, answer := make([]greeted, c.Connections), 0
	for i := range all {
		if all[i], err = greetFor(c.Name, to, c.Size, answer); err != nil {
			return done, failed + 1, err
		}
		answer = all[i].answer
		done++
		defer epoll.Close(all[i].fd)
		if err := poller.Add(all[i].fd, epoll.In, uint64(i)); err != nil {
			return done, failed, err
		}
	}
	for i := range all {
		if _, errno := epoll.Write(all[i].fd, all[i].request); errno != 0 {
			return done, failed + 1, errno
		}
	}
	n, err := exchangeUntil(poller, all, time.Now().Add(c.Duration))
	if done += n; err != nil {
		failed++
	}
	return done, failed, err
}

// exchangeUntil sends the next request whenever an answer is whole.
func exchangeUntil(poller *epoll.Poller, all []greeted, until time.Time) (done uint64, err error) {
	events, buffer, got := make([]epoll.Event, 512), make([]byte, 64<<10), make([]int, len(all))
	for time.Now().Before(until) {
		n, err := poller.Block(events, 100*time.Millisecond)
		if err != nil {
			return done, err
		}
		for i := range events[:n] {
			at := int(events[i].Token())
			one := &all[at]
			n, errno := epoll.Read(one.fd, buffer)
			if errno != 0 || n <= 0 {
				return done, fmt.Errorf("read %d bytes: %w", n, errno)
			}
			if bytes.HasPrefix(one.request, []byte("PUB ")) {
				n = natsPinged(one.fd, buffer, n)
			}
			if got[at] += n; got[at] < one.answer {
				continue
			}
			if got[at] > one.answer {
				return done, fmt.Errorf("an answer of %d bytes, others have %d", got[at], one.answer)
			}
			got[at] = 0
			done++
			if _, errno := epoll.Write(one.fd, one.request); errno != 0 {
				return done, errno
			}
		}
	}
	return done, nil
}

// floor adds the bare loop of a protocol to contenders.
func (b *bench) floor(all []contender, c loopConfig) ([]contender, error) {
	c.Duration = b.duration
	bare, err := loopContender(c)
	return append(all, bare), err
}

// floorTold says how far a bare loop is from a bar that ours misses.
func (b *bench) floorTold(rows []row, floor string, peer rival) {
	at := func(client string) *row {
		if i := slices.IndexFunc(rows, func(r row) bool { return r.Client == client }); i >= 0 && rows[i].PerCPU > 0 {
			return &rows[i]
		}
		return nil
	}
	bare, theirs := at(floor), at(peer.name)
	if bare == nil || theirs == nil {
		return
	}
	b.report.remark(b.out, fmt.Sprintf("%s: a bare loop over epoll takes %.2f requests per CPU second of %s's, the bar is %.2f; ours takes %.2f of the bare loop's",
		rows[0].Case, bare.PerCPU/theirs.PerCPU, peer.name, peer.least, rows[0].PerCPU/bare.PerCPU))
}

// websocketGreeted upgrades; each request is one masked message.
func websocketGreeted(c net.Conn, size int) ([]byte, error) {
	if err := dialled(c); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	data, mask := bytes.Repeat([]byte("x"), size), ws.NewMask()
	if err := ws.WriteHeader(&out, ws.Header{Fin: true, OpCode: ws.OpText, Masked: true, Mask: mask, Length: int64(size)}); err != nil {
		return nil, err
	}
	ws.Cipher(data, mask, 0)
	return append(out.Bytes(), data...), nil
}

// mqttGreeted connects by MQTT 3.1.1; each request is a publication of QoS 1.
func mqttGreeted(c net.Conn, size int) ([]byte, error) {
	id := fmt.Sprintf("bare-%s", c.LocalAddr())
	connect := append([]byte{0x10, byte(12 + len(id)), 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, byte(len(id))}, id...)
	if _, err := c.Write(connect); err != nil {
		return nil, err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(c, answer); err != nil || answer[3] != 0 {
		return nil, fmt.Errorf("CONNACK %x: %v", answer, err)
	}
	const topic = "dev/1/t"
	out := binary.AppendUvarint([]byte{0x32}, uint64(2+len(topic)+2+size))
	out = append(append(out, 0, byte(len(topic))), topic...)
	return append(append(out, 0, 1), strings.Repeat("x", size)...), nil
}

// amqpFrame is a frame on a channel.
func amqpFrame(kind byte, channel uint16, payload []byte) []byte {
	out := binary.BigEndian.AppendUint16([]byte{kind}, channel)
	out = binary.BigEndian.AppendUint32(out, uint32(len(payload)))
	return append(append(out, payload...), 0xce)
}

// amqpMethod is a frame of a method.
func amqpMethod(channel, class, method uint16, arguments ...byte) []byte {
	payload := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, class), method)
	return amqpFrame(1, channel, append(payload, arguments...))
}

// amqpAsk writes frames, and reads one.
type amqpAsk func(out []byte) (answer []byte, err error)

// amqpGreeted opens a channel with confirms; each request is a publication.
func amqpGreeted(c net.Conn, size int) ([]byte, error) {
	ask, err := amqpOpened(c)
	if err != nil {
		return nil, err
	}
	return amqpPublication(1, size), amqpConfirming(ask, 1)
}

// amqpOpened opens a connection.
func amqpOpened(c net.Conn) (amqpAsk, error) {
	in := bufio.NewReader(c)
	ask := func(out []byte) (answer []byte, err error) {
		if _, err := c.Write(out); err != nil {
			return nil, err
		}
		head := make([]byte, 7)
		if _, err := io.ReadFull(in, head); err != nil {
			return nil, err
		}
		answer = make([]byte, min(binary.BigEndian.Uint32(head[3:]), 1<<20)+1)
		_, err = io.ReadFull(in, answer)
		return answer, err
	}
	if _, err := ask([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return nil, err
	}
	login := append(append([]byte{0, 0, 0, 0}, amqpShort("PLAIN")...), "\x00\x00\x00\x0c\x00guest\x00guest"...)
	tune, err := ask(amqpMethod(0, 10, 11, append(login, amqpShort("en_US")...)...))
	if err != nil || len(tune) < 13 {
		return nil, fmt.Errorf("tune %x: %v", tune, err)
	}
	open := append(amqpMethod(0, 10, 31, append(tune[4:10:10], 0, 0)...), amqpMethod(0, 10, 40, append(amqpShort("/"), 0, 0)...)...)
	_, err = ask(open)
	return ask, err
}

func amqpShort(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// amqpConfirming opens a channel whose publications are confirmed.
func amqpConfirming(ask amqpAsk, channel uint16) error {
	if _, err := ask(amqpMethod(channel, 20, 10, 0)); err != nil {
		return err
	}
	_, err := ask(amqpMethod(channel, 85, 10, 0))
	return err
}

// amqpPublication is one on a channel.
func amqpPublication(channel uint16, size int) []byte {
	request := amqpMethod(channel, 60, 40, append(append([]byte{0, 0, 0}, amqpShort(amqpQueue)...), 0)...)
	head := binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, uint64(size))
	request = append(request, amqpFrame(2, channel, append(head, 0, 0))...)
	return append(request, amqpFrame(3, channel, bytes.Repeat([]byte("x"), size))...)
}

// mysqlGreeted prepares the statement of the experiment; each request executes it.
func mysqlGreeted(c net.Conn, _ int) ([]byte, error) {
	in := bufio.NewReader(c)
	packet := func() ([]byte, error) {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return nil, err
		}
		b := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, err
		}
		if len(b) == 0 || b[0] == 0xff {
			return nil, fmt.Errorf("the server says %q", b)
		}
		return b, nil
	}
	send := func(seq byte, b []byte) []byte {
		return append([]byte{byte(len(b)), byte(len(b) >> 8), byte(len(b) >> 16), seq}, b...)
	}
	if _, err := packet(); err != nil {
		return nil, err
	}
	const capabilities = 0x200 | 0x8000 | 0x80000 | 0x8 // protocol 4.1, its passwords, plugins, a database
	login := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, capabilities), 1<<24)
	login = append(append(login, 45), make([]byte, 23)...)
	login = append(login, "app\x00\x00shop\x00mysql_native_password\x00"...)
	if _, err := c.Write(send(1, login)); err != nil {
		return nil, err
	}
	if _, err := packet(); err != nil {
		return nil, err
	}
	if _, err := c.Write(send(0, []byte("\x16SELECT c FROM sbtest1 WHERE id=?"))); err != nil {
		return nil, err
	}
	prepared, err := packet()
	if err != nil || len(prepared) < 5 {
		return nil, fmt.Errorf("prepared %x: %v", prepared, err)
	}
	for range 4 { // the parameter, the column, and what ends each
		if _, err := packet(); err != nil {
			return nil, err
		}
	}
	execute := append([]byte{0x17}, prepared[1:5]...)
	execute = append(execute, 0, 1, 0, 0, 0, 0, 1, 8, 0)
	return send(0, binary.LittleEndian.AppendUint64(execute, 4242)), nil
}
