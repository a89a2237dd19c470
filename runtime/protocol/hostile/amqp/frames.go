package amqp

import (
	"encoding/binary"
	"strings"
)

// frame is a frame as the specification has it.
func frame(kind, channel byte, payload string) string {
	head := binary.BigEndian.AppendUint32([]byte{kind, 0, channel}, uint32(len(payload)))
	return string(head) + payload + "\xce"
}

// method is one with a method.
func method(channel byte, class, number uint16, arguments string) string {
	b := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, class), number)
	return frame(1, channel, string(b)+arguments)
}

func short(s string) string { return string([]byte{byte(len(s))}) + s }

func long(s string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n uint64, size int) string {
	return string(binary.BigEndian.AppendUint64(nil, n)[8-size:])
}

// What a server says in its greeting, and what the methods begin with that a client answers.
const (
	tuned = "\x00\x0a\x00\x1f"
	opens = "\x00\x0a\x00\x28\x01/"
)

var (
	start         = method(0, 10, 10, "\x00\x09"+long("\x07productS"+long("hostile"))+long("AMQPLAIN PLAIN")+long("en_US"))
	opened        = method(0, 10, 41, "\x00")
	channelOpened = method(1, 20, 11, "\x00\x00\x00\x00")
	selected      = method(1, 85, 11, "")
	heartbeat     = frame(8, 0, "")
)

// limits are those of a connection.
func limits(channels, frame, seconds uint64) string {
	return method(0, 10, 30, number(channels, 2)+number(frame, 4)+number(seconds, 2))
}

// closes closes the channel, or the connection.
func closes(channel byte, code uint64, text string, class, of uint64) string {
	arguments := number(code, 2) + short(text) + number(class, 2) + number(of, 2)
	if channel == 0 {
		return method(0, 10, 50, arguments)
	}
	return method(channel, 20, 40, arguments)
}

// ack and nack say what became of a publication.
func ack(tag uint64, multiple bool) string {
	bits := "\x00"
	if multiple {
		bits = "\x01"
	}
	return method(1, 60, 80, number(tag, 8)+bits)
}

func nack(tag uint64) string { return method(1, 60, 120, number(tag, 8)+"\x00") }

// gotten is the method that a message of a queue begins with.
func gotten(tag uint64) string {
	return method(1, 60, 71, number(tag, 8)+"\x00"+short("")+short("jobs")+number(0, 4))
}

// header is one of a message with so many bytes, and without properties.
func header(size uint64) string { return frame(2, 1, "\x00\x3c\x00\x00"+number(size, 8)+"\x00\x00") }

// bodies are a message in pieces.
func bodies(body string, piece int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(piece, len(body))
		b.WriteString(frame(3, 1, body[:n]))
		body = body[n:]
	}
	return b.String()
}

// message is a message of a queue.
func message(body string) string { return gotten(7) + header(uint64(len(body))) + bodies(body, 100000) }

// returned is a message that comes back.
func returned() string {
	return method(1, 60, 50, number(312, 2)+short("NO_ROUTE")+short("")+short("jobs")) + header(1) + bodies("k", 1)
}
