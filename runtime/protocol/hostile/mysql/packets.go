package mysql

import (
	"crypto/sha1" //nolint:gosec // the protocol's own
	"crypto/sha256"
	"encoding/binary"
)

// packet is a payload with its head.
func packet(number int, payload string) string {
	n := len(payload)
	return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(number)}) + payload
}

// packets are payloads that count from 1.
func packets(payloads ...string) (all string) {
	for i, p := range payloads {
		all += packet(i+1, p)
	}
	return all
}

// text is a value behind its length.
func text(s string) string {
	if n := len(s); n > 250 {
		return string([]byte{0xfd, byte(n), byte(n >> 8), byte(n >> 16)}) + s
	}
	return string([]byte{byte(len(s))}) + s
}

// column describes a column of texts, or of another type.
func column(name string, kind byte) string {
	return text("def") + text("shop") + text("t") + text("t") + text(name) + text(name) + "\x0c\x2d\x00\xff\xff\x00\x00" + string([]byte{kind}) + "\x00\x00\x1f\x00\x00"
}

const (
	kindText = 253
	kindLong = 3

	okPacket  = "\x00\x00\x00\x02\x00\x00\x00"
	endPacket = "\xfe\x00\x00\x02\x00\x00\x00" // of rows, where nothing else ends descriptions
	eofPacket = "\xfe\x00\x00\x02\x00"
	moreOK    = "\x00\x00\x00\x0a\x00\x00\x00"
	moreEnd   = "\xfe\x00\x00\x0a\x00\x00\x00"
)

// rows is a result of one column, its rows as texts.
func rows(values ...string) string {
	all := []string{"\x01", column("a", kindText)}
	for _, v := range values {
		all = append(all, text(v))
	}
	return packets(append(all, endPacket)...)
}

// failed is an error.
func failed(number int, state, message string) string {
	return "\xff" + string(binary.LittleEndian.AppendUint16(nil, uint16(number))) + "#" + state + message
}

// prepared is the answer to a preparation, with one parameter and one column, or as many as said.
func prepared(number uint32, columns, params uint16) string {
	head := binary.LittleEndian.AppendUint32([]byte{0}, number)
	head = binary.LittleEndian.AppendUint16(head, columns)
	head = binary.LittleEndian.AppendUint16(head, params)
	return string(head) + "\x00\x00\x00"
}

const salt = "abcdefghijklmnopqrst"

// The plugins that the catalogue knows.
const (
	Native = "mysql_native_password"
	SHA2   = "caching_sha2_password"
)

// The capabilities that the server offers. Brief: nothing ends descriptions.
const (
	offered = 0x00bff7df &^ (1 << 5) &^ (1 << 11) // neither compression nor TLS
	brief   = 1 << 24
)

// hello is what the server says first.
func hello(plugin string, full, secure bool) string {
	can := uint32(offered)
	if secure {
		can |= 1 << 11
	}
	if !full {
		can |= brief
	}
	return "\x0a8.0.99-hostile\x00\x01\x00\x00\x00" + salt[:8] + "\x00" + string([]byte{byte(can), byte(can >> 8), 45, 2, 0, byte(can >> 16), byte(can >> 24), 21}) +
		many("\x00", 10) + salt[8:] + "\x00" + plugin + "\x00"
}

// proves computes what the client must say by a plugin.
func proves(plugin, salt string) string {
	if plugin == SHA2 {
		one := sha256.Sum256([]byte(Password))
		two := sha256.Sum256(one[:])
		three := sha256.Sum256([]byte(string(two[:]) + salt))
		for i := range one {
			one[i] ^= three[i]
		}
		return string(one[:])
	}
	one := sha1.Sum([]byte(Password)) //nolint:gosec // the protocol's own
	two := sha1.Sum(one[:])           //nolint:gosec // the protocol's own
	three := sha1.Sum([]byte(salt + string(two[:])))
	for i := range one {
		one[i] ^= three[i]
	}
	return string(one[:])
}
