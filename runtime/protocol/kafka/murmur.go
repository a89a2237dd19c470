package kafka

import "encoding/binary"

// murmur2 is the hash that Java's producer has for keys: MurmurHash2 of 32 bits, with its seed.
func murmur2(b []byte) uint32 {
	const m, r = 0x5bd1e995, 24
	h := uint32(0x9747b28c) ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		k = (k ^ k>>r) * m
		h = h*m ^ k
	}
	switch len(b) {
	case 3:
		h ^= uint32(b[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(b[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(b[0])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// PartitionOf returns the partition of a key among so many, which is 1 or more.
func PartitionOf(key []byte, partitions int) int32 {
	return int32(murmur2(key) & 0x7fffffff % uint32(partitions))
}
