package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// outbox holds a connection's outgoing bytes: one buffer for all streams' frames.
type outbox struct {
	bytes   []byte
	sent    int         // of bytes
	gone    uint64      // bytes written in all
	departs []departure // by end
}

// departure is a request that is queued whole. It counts when all bytes up to its end are gone.
// That holds even if its stream has ended by then, as its frames are written all the same.
type departure struct {
	end   uint64
	count *uint64
}

func (o *outbox) emptied() outbox { return outbox{bytes: o.bytes[:0], departs: o.departs[:0]} }

// left is how many bytes wait.
func (o *outbox) left() int { return len(o.bytes) - o.sent }

// queued is how many bytes were ever queued.
func (o *outbox) queued() uint64 { return o.gone + uint64(o.left()) }

func (o *outbox) wrote(n int) {
	o.gone += uint64(n)
	if o.sent += n; o.sent >= len(o.bytes) {
		o.bytes, o.sent = o.bytes[:0], 0
	} else if o.sent > len(o.bytes)/2 {
		o.bytes, o.sent = o.bytes[:copy(o.bytes, o.bytes[o.sent:])], 0
	}
}

// taken counts the requests that are gone. What is still queued when the connection ends never
// counts.
func (o *outbox) taken() {
	n := 0
	for n < len(o.departs) && o.departs[n].end <= o.gone {
		*o.departs[n].count++
		n++
	}
	o.departs = o.departs[:copy(o.departs, o.departs[n:])]
}

func (o *outbox) preface(config *Config) {
	o.bytes = append(o.bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"...)
	o.bytes = appendFrame(o.bytes, 4*6, typeSettings, 0, 0)
	o.bytes = appendSetting(o.bytes, settingPush, 0)
	o.bytes = appendSetting(o.bytes, settingStreams, 0) // the server may open none
	o.bytes = appendSetting(o.bytes, settingWindow, uint32(config.StreamWindow))
	o.bytes = appendSetting(o.bytes, settingHeadList, http1.MaxHeadBytes)
	if more := config.Window - windowFirst; more > 0 {
		o.window(0, more)
	}
}

func (o *outbox) goaway(code Code) {
	o.bytes = appendFrame(o.bytes, 8, typeGoaway, 0, 0)
	o.bytes = binary.BigEndian.AppendUint64(o.bytes, uint64(code)) // the last stream of the server's is 0
}

func (o *outbox) reset(stream uint32, code Code) {
	o.bytes = binary.BigEndian.AppendUint32(appendFrame(o.bytes, 4, typeReset, 0, stream), uint32(code))
}

func (o *outbox) window(stream uint32, more int) {
	o.bytes = binary.BigEndian.AppendUint32(appendFrame(o.bytes, 4, typeWindow, 0, stream), uint32(more))
}

func (o *outbox) ping(payload uint64) {
	o.bytes = binary.BigEndian.AppendUint64(appendFrame(o.bytes, 8, typePing, 0, 0), payload)
}

// acknowledge answers SETTINGS or PING.
func (o *outbox) acknowledge(kind byte, payload []byte) {
	o.bytes = append(appendFrame(o.bytes, len(payload), kind, flagAck, 0), payload...)
}
