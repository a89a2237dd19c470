package keyspace

import "strings"

// Slots is how many a cluster has.
const Slots = 16384

// Tag is the part of a key that decides about its slot: what stands between its first { and the } behind
// that, and the whole key if there is no such part.
func Tag(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	if end := strings.IndexByte(key[open+1:], '}'); end > 0 {
		return key[open+1 : open+1+end]
	}
	return key
}

// Slot is the slot of a key: CRC16 of its tag, with the polynomial 0x1021 from 0 (XMODEM).
func Slot(key string) int {
	crc := uint16(0)
	for _, b := range []byte(Tag(key)) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % Slots
}
