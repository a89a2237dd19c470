package websocket

import "encoding/binary"

// mask XORs src into dst, which is as long, and returns the mask for the byte that follows. The
// mask's first byte is its lowest.
func mask(dst, src []byte, with uint32) uint32 {
	wide := uint64(with)<<32 | uint64(with)
	for len(src) >= 32 && len(dst) >= 32 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src)^wide)
		binary.LittleEndian.PutUint64(dst[8:], binary.LittleEndian.Uint64(src[8:])^wide)
		binary.LittleEndian.PutUint64(dst[16:], binary.LittleEndian.Uint64(src[16:])^wide)
		binary.LittleEndian.PutUint64(dst[24:], binary.LittleEndian.Uint64(src[24:])^wide)
		dst, src = dst[32:], src[32:]
	}
	for len(src) >= 8 && len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src)^wide)
		dst, src = dst[8:], src[8:]
	}
	for i := range src {
		dst[i] = src[i] ^ byte(with)
		with = with>>8 | with<<24
	}
	return with
}
