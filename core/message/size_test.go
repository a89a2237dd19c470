package message

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"
)

// Each size is the length that msgp writes: Size returns it without encoding.
func TestSizesAreWhatMsgpWrites(t *testing.T) {
	edges := []int64{0, 15, 16, 31, 32, math.MaxInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32, math.MaxInt64}
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.SampledFrom(edges).Draw(t, "edge")
		v := edge + rapid.Int64Range(-1, 1).Draw(t, "off") // may wrap around: the smallest integer
		check := func(what string, got, want int) {
			if got != want {
				t.Fatalf("%s %d: size is %d, msgp writes %d bytes", what, v, got, want)
			}
		}
		check("unsigned", sizeUint(uint64(v)), len(msgp.AppendUint64(nil, uint64(v))))
		check("integer", sizeInt(v), len(msgp.AppendInt64(nil, v)))
		check("negative", sizeInt(-v), len(msgp.AppendInt64(nil, -v)))
		if n := int(v); n >= 0 && n <= 1<<17 {
			check("string", sizeString(n), len(msgp.AppendString(nil, strings.Repeat("x", n))))
			check("bytes", sizeBytes(n), len(msgp.AppendBytes(nil, make([]byte, n))))
			check("array", sizeArray(n), len(msgp.AppendArrayHeader(nil, uint32(n))))
		}
	})
}

// tree is a value that Scan walks; depth counts the nested containers that are not empty.
type tree struct {
	bytes []byte
	depth int
}

func drawTree(t *rapid.T, levels int) tree {
	scalars := [][]byte{{0}, {0xff}, {0xc0}, {0xc2}, {0xa2, 'a', 'b'}, {0xcc, 200}, {0xd3, 1, 2, 3, 4, 5, 6, 7, 8}, {0xc4, 1, 9}, {0xca, 0, 0, 0, 0}, {0x90}, {0x80}}
	if levels == 0 {
		return tree{rapid.SampledFrom(scalars).Draw(t, "scalar"), 0}
	}
	out := tree{}
	n := rapid.IntRange(1, 3).Draw(t, "count")
	deep := rapid.IntRange(0, n-1).Draw(t, "deep")
	pairs := rapid.Bool().Draw(t, "pairs")
	if pairs {
		out.bytes = msgp.AppendMapHeader(nil, uint32(n))
	} else {
		out.bytes = msgp.AppendArrayHeader(nil, uint32(n))
	}
	for i := range n {
		inner := 0
		if i == deep {
			inner = levels - 1
		}
		if pairs {
			out.bytes = append(out.bytes, drawTree(t, 0).bytes...)
		}
		v := drawTree(t, inner)
		out.bytes, out.depth = append(out.bytes, v.bytes...), max(out.depth, v.depth)
	}
	out.depth++
	return out
}

// Scan returns a value's length, regardless of what follows. It rejects a value that is nested
// too deep, is cut, or claims more elements than there are bytes.
func TestScanMeasuresOneValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawTree(t, rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(depthMax-2, depthMax+1)).Draw(t, "levels"))
		tail := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "tail")
		n, err := Scan(append(v.bytes[:len(v.bytes):len(v.bytes)], tail...))
		if v.depth >= depthMax {
			if !errors.Is(err, ErrFrame) {
				t.Fatalf("nested %d deep: %v", v.depth, err)
			}
			return
		}
		if err != nil || n != len(v.bytes) {
			t.Fatalf("%x before %x: length %d and %v, want %d", v.bytes, tail, n, err, len(v.bytes))
		}
		if n, err := Scan(v.bytes[:rapid.IntRange(0, len(v.bytes)-1).Draw(t, "cut")]); !errors.Is(err, ErrFrame) {
			t.Fatalf("a cut value has length %d: %v", n, err)
		}
		claims := msgp.AppendArrayHeader(nil, uint32(len(v.bytes)+rapid.IntRange(1, 1<<31).Draw(t, "more")))
		if n, err := Scan(append(claims, v.bytes...)); !errors.Is(err, ErrFrame) {
			t.Fatalf("an array of more elements than bytes has length %d: %v", n, err)
		}
	})
}
