package kafka_test

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
)

// records makes what a partition has in an answer to Fetch: batches as in 41=tea,coffee;43=milk, in front of
// whose number stand letters: c is a control batch, a has the broker's time. Behind them "cut" takes five bytes
// off, "crc" changes the last one, "v1" and "count" make the head say what is wrong, and "headers" gives the last
// record 1<<62 of them.
func records(text string) []byte {
	var all []byte
	for _, word := range strings.Split(text, ";") {
		switch word {
		case "cut":
			all = all[:len(all)-5]
			continue
		case "crc":
			all[len(all)-1] ^= 1
			continue
		case "headers":
			all = manyHeaders(all)
			continue
		case "v1":
			all[16] = 1
			continue
		case "count":
			binary.BigEndian.PutUint32(all[57:], 1<<30)
			binary.BigEndian.PutUint32(all[17:], crc32.Checksum(all[21:], crc32.MakeTable(crc32.Castagnoli)))
			continue
		}
		base, values, is := strings.Cut(word, "=")
		if !is {
			continue
		}
		flags := byte(0)
		for _, letter := range base {
			flags |= map[rune]byte{'c': 1 << 5, 'a': 1 << 3}[letter]
		}
		first, _ := strconv.ParseUint(strings.TrimLeft(base, "ca"), 10, 64)
		all = append(all, batch(first, flags, strings.Split(values, ","))...)
	}
	return all
}

// manyHeaders says of the last record, which has a value of three bytes, that it has 1<<62 headers.
func manyHeaders(all []byte) []byte {
	all = binary.AppendVarint(all[:len(all)-4], 1<<62)
	all[61] += 2 * (10 - 4) // the record's length
	binary.BigEndian.PutUint32(all[8:], uint32(len(all)-12))
	binary.BigEndian.PutUint32(all[17:], crc32.Checksum(all[21:], crc32.MakeTable(crc32.Castagnoli)))
	return all
}

// batch makes a batch by the page of its format, whose records are of one second after the other.
func batch(base uint64, flags byte, values []string) []byte {
	const began = 1_700_000_000_000
	n := len(values)
	b := binary.BigEndian.AppendUint64(nil, base)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 0, flags)
	b = binary.BigEndian.AppendUint32(b, uint32(n-1))
	b = binary.BigEndian.AppendUint64(b, began)
	b = binary.BigEndian.AppendUint64(b, uint64(began+1000*(n-1)))
	b = binary.BigEndian.AppendUint64(b, 1<<64-1)
	b = append(b, 255, 255, 255, 255, 255, 255)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	for i, v := range values {
		one := binary.AppendVarint(binary.AppendVarint([]byte{0}, int64(1000*i)), int64(i))
		one = append(binary.AppendVarint(one, -1), binary.AppendVarint(nil, int64(len(v)))...)
		one = append(append(one, v...), 2, 2, 'h', 1) // a header that is null
		b = append(binary.AppendVarint(b, int64(len(one))), one...)
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
