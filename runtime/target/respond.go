package target

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	typeText = "text/plain"
	typeJSON = "application/json"
	typeHTML = "text/html; charset=utf-8"

	typeEvents = "text/event-stream"

	// bodyInline is the largest default body that is copied behind each head; a larger one
	// is sent from one shared block, so that slow readers cost no memory.
	bodyInline = 4 << 10
	fillerSize = 64 << 10
	outputFull = 64 << 10
)

// site is what all connections share: options, counters and ready-made answers.
type site struct {
	mu     sync.Mutex
	cfg    Config
	stats  counters
	nonces nonces
	random *rand.Rand
	filler []byte // the default body repeats it

	second int64  // of the date below
	ready  []byte // the default answer on a kept connection, whole if the body is inline
	dateAt int    // where ready has its date
	date   []byte
}

func newSite(cfg Config) *site {
	s := &site{cfg: cfg, stats: newCounters(0), random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), second: -1}
	const line = "hyperscale target: the quick brown fox jumps over the lazy dog.\n"
	s.filler = []byte(strings.Repeat(line, fillerSize/len(line)))
	s.date = []byte(http.TimeFormat)
	before := "HTTP/1.1 200 OK\r\nServer: hyperscale\r\nDate: "
	s.dateAt = len(before)
	s.ready = append([]byte(before), s.date...)
	s.ready = append(s.ready, "\r\nContent-Type: text/plain\r\nContent-Length: "+strconv.Itoa(cfg.Size)+"\r\n\r\n"...)
	if cfg.Size <= bodyInline {
		s.ready = append(s.ready, s.filler[:cfg.Size]...)
	}
	s.clock(time.Now())
	return s
}

// clock renews the date once a second.
func (s *site) clock(now time.Time) {
	if second := now.Unix(); second != s.second {
		s.second = second
		s.date = now.UTC().AppendFormat(s.date[:0], http.TimeFormat)
		copy(s.ready[s.dateAt:], s.date)
	}
}

// judge says what befalls a request.
func (s *site) judge(c *call) {
	s.stats.judged++
	n := s.stats.judged
	c.counted, c.epoch = true, s.stats.epoch
	each := func(every int) bool { return every > 0 && n%uint64(every) == 0 }
	drops := each(s.cfg.CloseEvery)
	c.wait = s.cfg.Latency
	if s.cfg.Jitter > 0 {
		c.wait += time.Duration(s.random.Int64N(2*int64(s.cfg.Jitter)+1)) - s.cfg.Jitter
	}
	if each(s.cfg.StallEvery) {
		c.wait += s.cfg.StallFor
		drops = false // else 10, 100 and 1,000 for error, close and stall would never stall
	}
	switch {
	case drops:
		c.fate = fateDrop
	case each(s.cfg.ErrorEvery):
		c.fate = fateFail
	}
}

// output is what one connection will send: bytes, then rest bytes of the filler.
type output struct {
	bytes   []byte
	at      int // how many of bytes the kernel has taken
	rest    int64
	answers []tally // whole responses in it that count, by status
	size    uint64  // their bytes
	epoch   uint32
}

// tally counts responses of one status.
type tally struct {
	status int
	count  uint64
}

func (o *output) reset() { *o = output{bytes: o.bytes[:0], answers: o.answers[:0]} }

func (o *output) left() int64 { return int64(len(o.bytes)-o.at) + o.rest }

func (o *output) empty() bool { return o.left() == 0 }

// next is what to send next; took notes how much of it was taken.
func (o *output) next(filler []byte) []byte {
	if o.at < len(o.bytes) {
		return o.bytes[o.at:]
	}
	return filler[:min(o.rest, int64(len(filler)))]
}

func (o *output) took(n int) {
	if o.at < len(o.bytes) {
		o.at += n
	} else {
		o.rest -= int64(n)
	}
}

// full asks to be sent before more is appended; nothing may follow a filler.
func (o *output) full() bool { return o.rest > 0 || len(o.bytes) >= outputFull }

func (o *output) raw(text string) { o.bytes = append(o.bytes, text...) }

// count notes that the output grew by one answer of so many bytes.
func (o *output) count(c *call, epoch uint32, status int, size int64) {
	if !c.counted || c.epoch != epoch {
		return
	}
	if o.epoch != epoch {
		o.answers, o.size, o.epoch = o.answers[:0], 0, epoch
	}
	o.size += uint64(size)
	for i := range o.answers {
		if o.answers[i].status == status {
			o.answers[i].count++
			return
		}
	}
	o.answers = append(o.answers, tally{status, 1})
}

// sent counts an output that the kernel took whole.
func (s *site) sent(o *output) {
	if o.epoch == s.stats.epoch {
		for _, a := range o.answers {
			s.stats.Responses += a.count
			s.stats.statuses[a.status] += a.count
		}
		s.stats.BytesOut += o.size
	}
}

// response is an answer other than the ready-made one.
type response struct {
	status int
	kind   string
	extra  string // header lines with their ends
	body   string
}

// home appends the answer of "/".
func (s *site) home(c *call, out *output) {
	if c.then != persists || c.method == methodHead {
		s.renderSized(c, out, response{status: 200, kind: typeText}, int64(s.cfg.Size))
		return
	}
	out.bytes = append(out.bytes, s.ready...)
	size := int64(len(s.ready))
	if s.cfg.Size > bodyInline {
		out.rest = int64(s.cfg.Size)
		size += out.rest
	}
	out.count(c, s.stats.epoch, 200, size)
}

// render appends a response with its own body.
func (s *site) render(c *call, out *output, r response) {
	start := len(out.bytes)
	s.renderHead(c, out, r, int64(len(r.body)))
	if c.method != methodHead {
		out.raw(r.body)
	}
	out.count(c, s.stats.epoch, r.status, int64(len(out.bytes)-start))
}

// renderSized appends a response whose body is filler.
func (s *site) renderSized(c *call, out *output, r response, length int64) {
	start := len(out.bytes)
	s.renderHead(c, out, r, length)
	switch {
	case c.method == methodHead:
	case length <= bodyInline:
		out.bytes = append(out.bytes, s.filler[:length]...)
	default:
		out.rest = length
	}
	out.count(c, s.stats.epoch, r.status, int64(len(out.bytes)-start)+out.rest)
}

func (s *site) renderHead(c *call, out *output, r response, length int64) {
	b := append(out.bytes, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(r.status), 10)
	b = append(append(b, ' '), http.StatusText(r.status)...)
	b = append(append(b, "\r\nServer: hyperscale\r\nDate: "...), s.date...)
	if r.status != http.StatusNoContent {
		b = append(append(b, "\r\nContent-Type: "...), r.kind...)
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), length, 10)
	}
	b = append(append(b, "\r\n"...), r.extra...)
	switch c.then {
	case closes:
		b = append(b, "Connection: close\r\n"...)
	case persistsSaid:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	out.bytes = append(b, "\r\n"...)
}
