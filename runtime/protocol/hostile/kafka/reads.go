package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Numbers of the requests of a consumer.
const (
	apiFetch   = 1
	apiOffsets = 2
)

// firstOffset is where the log begins.
const firstOffset = 41

// NextRead is a part of what a well-behaved fetch brings.
const NextRead = `"value":"next"`

// offsets is an answer to ListOffsets of version 1.
func offsets(code, offset int) string {
	return i32(1) + text(Topic) + i32(1) + i32(0) + i16(code) + i64(-1) + i64(offset)
}

// fetched is an answer to Fetch of version 11.
func fetched(code int, records string, wait int) string {
	return i32(wait) + i16(0) + i32(0) + i32(1) + text(Topic) + i32(1) + i32(0) + partition(code, records)
}

// partition is the rest of what such an answer has of one.
func partition(code int, records string) string {
	return i16(code) + i64(firstOffset+9) + i64(firstOffset+9) + i64(0) + i32(-1) + i32(-1) + i32(len(records)) + records
}

// batch has one record, of a coding, that says that there are so many.
func batch(offset int, coding, value string, count int) string {
	covered := "\x00" + coding + i32(0) + i64(1_700_000_000_000) + i64(1_700_000_000_000) + i64(-1) + i16(-1) + i32(-1) + i32(count)
	if coding == "\x00" {
		one := "\x00\x00\x00\x01" + string(binary.AppendVarint(nil, int64(len(value)))) + value + "\x00"
		value = string(binary.AppendVarint(nil, int64(len(one)))) + one
	}
	covered += value
	sum := crc32.Checksum([]byte(covered), crc32.MakeTable(crc32.Castagnoli))
	return i64(offset) + i32(4+1+4+len(covered)) + i32(0) + "\x02" + string(binary.BigEndian.AppendUint32(nil, sum)) + covered
}

const plain = "\x00"

// reads are what meets a consumer.
func reads() []Entry {
	fetches := func(name string, act Act, want Want) Entry {
		return Entry{Name: "fetch: " + name, At: AtFetch, Reads: true, Act: act, Want: want}
	}
	fails := func(name string, act Act, kind http1.Kind) Entry { return fetches(name, act, Want{Kind: kind}) }
	breaks := func(name, records string) Entry {
		return fails(name, says(fetched(0, records, 0), hold), http1.KindProtocol)
	}
	tells := func(name string, code int, kind http1.Kind) Entry {
		return fetches(name, says(fetched(code, "", 0), nil), Want{Kind: kind, Reuse: ReuseMust})
	}
	one := batch(firstOffset, plain, "tea", 1)
	tea := Want{Body: `"value":"tea"`, Reuse: ReuseMust}
	return slices.Concat(located(), []Entry{
		fails("silence", hold, http1.KindTimeout),
		fails("half an answer", raw(i32(500)+"$NUMhel", hold), http1.KindTimeout),
		fails("the end inside an answer", raw(i32(500)+"$NUMhel", half), http1.KindTruncated),
		fails("another's number", raw(i32(4+len(fetched(0, one, 0)))+"\x00\x00\x00\x63"+fetched(0, one, 0), hold), http1.KindProtocol),
		fails("an answer beyond what is taken", raw(i32(16<<20+1)+"$NUM", hold), http1.KindTooLarge),
		fails("an answer that is cut", says(fetched(0, one, 0)[:60], hold), http1.KindProtocol),
		fails("2^31-1 topics", says(i32(0)+i16(0)+i32(0)+i32(1<<31-1), hold), http1.KindProtocol),
		fails("a partition twice", says(i32(0)+i16(0)+i32(0)+i32(1)+text(Topic)+i32(2)+i32(0)+partition(0, one)+i32(0)+partition(0, one), hold), http1.KindProtocol),
		fails("a partition that was not asked for", says(i32(0)+i16(0)+i32(0)+i32(1)+text(Topic)+i32(1)+i32(7)+partition(0, one), hold), http1.KindProtocol),
		tells("a leader that has moved", 6, "server NOT_LEADER_OR_FOLLOWER"),
		tells("an offset that is gone", 1, "server OFFSET_OUT_OF_RANGE"),
		tells("an error of tomorrow", 999, "server ERROR_999"),
		breaks("a wrong checksum", one[:len(one)-1]+"!"),
		breaks("a batch of version 1", one[:16]+"\x01"+one[17:]),
		breaks("a batch of -1 bytes", one[:8]+i32(-1)+one[12:]),
		breaks("2^31-1 records", batch(firstOffset, plain, "tea", 1<<31-1)),
		breaks("-1 records", batch(firstOffset, plain, "tea", -1)),
		breaks("an offset of -1", batch(-1, plain, "tea", 1)),
		breaks("records from before the offset", batch(firstOffset-1, plain, "tea", 1)),
		breaks("a coding that is none", batch(firstOffset, "\x07", "tea", 1)),
		breaks("gzip that is none", batch(firstOffset, "\x01", "tea", 1)),
		breaks("snappy of 2^32-1 bytes", batch(firstOffset, "\x02", "\xff\xff\xff\xff\x0f", 1)),
		breaks("lz4 that is none", batch(firstOffset, "\x03", "tea", 1)),
		breaks("zstd with a window of 2 GiB", batch(firstOffset, "\x04", "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 1)),
		breaks("zstd of 1000 to 1", batch(firstOffset, "\x04", bomb, 1)),
		fetches("a batch that is not whole", says(fetched(0, one[:len(one)-1], 0), nil), Want{Kind: http1.KindTooLarge, Reuse: ReuseMust}),
		fetches("half a batch at the end", says(fetched(0, one+one[:30], 0), nil), tea),
		fetches("a record", says(fetched(0, one, 0), nil), tea),
		fetches("a record a byte at a time", drips(fetched(0, one, 0), time.Millisecond, nil), tea),
		fetches("a wait of an hour", says(fetched(0, one, 3_600_000), nil), Want{Body: tea.Body, Reuse: ReuseMust, Throttled: 1}),
		fetches("nothing, and then a record", says(fetched(0, "", 0), nil), Want{Body: NextRead, Reuse: ReuseMust, Again: 1}),
	})
}

// located are answers to the question for offsets.
func located() []Entry {
	locates := func(name string, act Act, want Want) Entry {
		return Entry{Name: "offsets: " + name, At: AtOffsets, Reads: true, Act: act, Want: want}
	}
	return []Entry{
		locates("silence", hold, Want{Kind: http1.KindTimeout}),
		locates("the end", half, Want{Kind: http1.KindClosed}),
		locates("a leader that has moved", says(offsets(6, -1), nil), Want{Kind: "server NOT_LEADER_OR_FOLLOWER", Reuse: ReuseMust}),
		locates("an offset of -7", says(offsets(0, -7), hold), Want{Kind: http1.KindProtocol}),
		locates("no topic", says(i32(0), hold), Want{Kind: http1.KindProtocol}),
	}
}

// offset reads where a Fetch begins; false: the client breaks the protocol.
func (s *Session) offset(b []byte) (offset int, ok bool) {
	const before = 4 + 4 + 4 + 4 + 1 + 8
	if len(b) < before {
		s.server.blame("a fetch has %d bytes", len(b))
		return 0, false
	}
	rest, is := strings.CutPrefix(string(b[before:]), i32(1)+text(Topic)+i32(1)+i32(0)+i32(-1))
	if !is || len(rest) != 8+8+4+4+2 {
		s.server.blame("a fetch asks for %.60q", rest)
		return 0, false
	}
	return int(binary.BigEndian.Uint64([]byte(rest))), true
}

// bomb is zstd of 32 MiB of one byte: blocks that repeat it.
var bomb = "\x28\xb5\x2f\xfd\x00\x58" + strings.Repeat("\x02\x00\x10x", 255) + "\x03\x00\x10x"
