package push

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"hyperscale/runtime/outputs"
)

// digestOf names a batch by the keys and versions of its rows, in 24 digits.
func digestOf(rows []outputs.Row) string {
	h := sha256.New()
	for i := range rows {
		key := rows[i].Key()
		h.Write(binary.AppendUvarint(nil, uint64(len(key))))
		h.Write([]byte(key))
		h.Write(rows[i].Version[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
