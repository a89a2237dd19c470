package http1

// Parser reads one response at a time from bytes that come in any pieces. It is a small
// value, so that ten thousand virtual users each own one. Call Reset before each response.
type Parser struct {
	chunks    Chunks
	collector *Collector
	common    *Common // nil: nothing is shared
	body      int64   // body bytes so far, framing excluded
	status    uint16
	keepMax   uint16 // Keep-Alive: max; keepUnsaid if not said
	flags     flag
	state     state
	interim   uint8 // 1xx responses skipped
}

const keepUnsaid = 1<<16 - 1

type state uint8

const (
	stateStatus state = iota
	stateFields
	stateSized
	stateChunked
	stateUntilClose
	stateDone
	stateFailed
)

type flag uint16

const (
	flagHead    flag = 1 << iota // the request was HEAD
	flagOld                      // the response is HTTP/1.0
	flagClose                    // Connection: close
	flagKeep                     // Connection: keep-alive
	flagLength                   // Content-Length seen
	flagChunked                  // Transfer-Encoding: chunked seen
	flagFraming                  // the last field said where the response ends
	flagField                    // the head has a field
	flagSurplus                  // bytes came after the response
	flagSilent                   // the stream ended without a byte
	flagUpgrade                  // the request asked for another protocol
)

var (
	errNotHTTP    = &Error{KindProtocol, "the answer does not begin with HTTP/1: is another protocol spoken on this port?"}
	errIsTLS      = &Error{KindProtocol, "the answer is TLS, not HTTP: write https:// in the URL"}
	errIsHTTP2    = &Error{KindProtocol, "the answer is HTTP/2, not HTTP/1"}
	errStatusLine = &Error{KindProtocol, "the status line is malformed"}
	errUpgrade    = &Error{KindProtocol, "101 switches protocols, and no request asked for it"}
	errInterim    = &Error{KindProtocol, "more than 16 interim (1xx) responses"}
	errBodyLarge  = &Error{KindTooLarge, "the body exceeds its limit"}
	errClosed     = &Error{KindClosed, "the connection was closed before the response began"}
	errTruncated  = &Error{KindTruncated, "the connection was closed in the middle of the response"}
	errAfterError = &Error{KindProtocol, "the parser was fed after an error"}
)

// Reset prepares for the response to a request of this method and drops the collector.
func (p *Parser) Reset(method string) {
	p.chunks.Clear()
	*p = Parser{chunks: p.chunks, common: p.common, keepMax: keepUnsaid}
	if method == "HEAD" {
		p.flags = flagHead
	}
}

// Collect keeps the head and body of the coming response in c; call it after Reset.
func (p *Parser) Collect(c *Collector) {
	c.Reset()
	p.collector = c
}

// Upgrade says that the request asks for another protocol; call it after Reset. The head of 101
// is then a whole response, and the bytes behind it are that protocol's.
func (p *Parser) Upgrade() { p.flags |= flagUpgrade }

// Collector is what keeps the response, nil if nothing does.
func (p *Parser) Collector() *Collector { return p.collector }

// Status is the final status, 0 until it is known.
func (p *Parser) Status() int { return int(p.status) }

// BytesBody is the number of body bytes so far, without framing.
func (p *Parser) BytesBody() int64 { return p.body }

// Started reports whether any byte of a response has come.
func (p *Parser) Started() bool {
	return p.flags&flagSilent == 0 && (p.state != stateStatus || len(p.chunks.carry) > 0 || p.interim > 0)
}

// HeadDone reports whether the final head has come.
func (p *Parser) HeadDone() bool { return p.state > stateFields && p.state != stateFailed }

// Done reports whether the response is whole.
func (p *Parser) Done() bool { return p.state == stateDone }

// Reusable reports whether the connection may carry another request.
func (p *Parser) Reusable() bool {
	if p.state != stateDone || p.flags&(flagClose|flagSurplus) != 0 || p.keepMax == 0 || p.status == 101 {
		return false
	}
	if p.flags&(flagLength|flagChunked) == flagLength|flagChunked {
		return false // it has two lengths: the next bytes may be another response
	}
	if p.flags&flagOld != 0 {
		return p.flags&flagKeep != 0 && p.flags&flagChunked == 0
	}
	return true
}

// Feed takes the next bytes of the stream. It returns how many belong to the response and
// whether that is whole; bytes beyond it are surplus and make the connection unusable.
func (p *Parser) Feed(b []byte) (consumed int, done bool, err error) {
	starts := p.atStart()
	if starts {
		consumed = p.recall(b)
		starts = consumed == 0
	}
	for consumed < len(b) && p.state < stateDone {
		n, err := p.step(b[consumed:])
		consumed += n
		if err != nil {
			p.state = stateFailed
			return consumed, false, err
		}
		if starts && p.state > stateFields {
			p.remember(b, consumed)
			starts = false
		}
	}
	switch p.state {
	case stateFailed:
		return consumed, false, errAfterError
	case stateDone:
		if consumed < len(b) {
			p.flags |= flagSurplus
		}
		return consumed, true, nil
	}
	return consumed, false, nil
}

// FinishEOF reports the end of the stream to the parser. A response without a length is then
// complete; any other unfinished one is an error.
func (p *Parser) FinishEOF() (done bool, err error) {
	switch {
	case p.state == stateDone:
		p.flags |= flagClose
		return true, nil
	case p.state == stateUntilClose:
		p.state = stateDone
		return true, nil
	case p.state == stateFailed:
		return false, errAfterError
	case !p.Started():
		p.state = stateFailed
		p.flags |= flagSilent
		return false, errClosed
	}
	p.state = stateFailed
	return false, errTruncated
}

func (p *Parser) step(b []byte) (int, error) {
	switch p.state {
	case stateStatus, stateFields:
		return p.headLine(b)
	case stateSized:
		n := int(min(p.chunks.left, int64(len(b))))
		p.chunks.left -= int64(n)
		if p.chunks.left == 0 {
			p.state = stateDone
		}
		return n, p.take(b[:n])
	case stateChunked:
		n, data, done, err := p.chunks.Next(b)
		if err == nil {
			err = p.take(data)
		}
		if done {
			p.state = stateDone
		}
		return n, err
	}
	return len(b), p.take(b)
}

func (p *Parser) headLine(b []byte) (int, error) {
	if p.state == stateStatus {
		if err := checkStart(p.chunks.carry, b); err != nil {
			return 0, err
		}
	}
	line, n, ok := p.chunks.next(b, MaxHeadBytes)
	if !ok {
		return n, nil
	}
	if n == 0 {
		return 0, errHeadLarge
	}
	if p.state == stateStatus {
		p.state = stateFields
		return n, p.statusLine(line)
	}
	if len(line) == 0 {
		return n, p.headEnd()
	}
	if p.chunks.count++; p.chunks.count > MaxHeadLines {
		return n, errHeadLines
	}
	return n, p.field(line)
}

// checkStart refuses another protocol by its first bytes, since it may never send the
// line end that a status line is awaited with.
func checkStart(carry, b []byte) error {
	const start = "HTTP/1."
	for i := len(carry); i < len(start) && i-len(carry) < len(b); i++ {
		if c := b[i-len(carry)]; c != start[i] {
			switch {
			case i == 0 && (c == 0x15 || c == 0x16):
				return errIsTLS
			case i == 0 && c == 0:
				return errIsHTTP2
			}
			return errNotHTTP
		}
	}
	return nil
}

// statusLine reads "HTTP/1.1 200 reason"; the reason and its space may be missing.
func (p *Parser) statusLine(line []byte) error {
	const least = len("HTTP/1.1 200")
	if len(line) < least || line[8] != ' ' || len(line) > least && line[least] != ' ' {
		return errStatusLine
	}
	minor := line[7]
	code, ok := parseNumber(line[9:12])
	if minor < '0' || minor > '9' || !ok || code < 100 {
		return errStatusLine
	}
	p.status = uint16(code)
	if minor == '0' {
		p.flags |= flagOld
	}
	return checkValue(line[least:])
}

// headEnd decides how the body ends (RFC 9112, 6.3).
func (p *Parser) headEnd() error {
	length := p.chunks.left
	p.chunks.lines.clear()
	switch {
	case p.status == 101 && p.flags&flagUpgrade == 0:
		return errUpgrade
	case p.status == 101:
		p.state = stateDone
	case p.status < 200:
		return p.skipInterim()
	case p.flags&flagHead != 0 || p.status == 204 || p.status == 304:
		p.state = stateDone
	case p.flags&flagChunked != 0:
		p.chunks.Clear()
		p.state = stateChunked
	case p.flags&flagLength == 0:
		p.flags |= flagClose
		p.state = stateUntilClose
	case length > p.limit():
		return errBodyLarge
	case length == 0:
		p.state = stateDone
	default:
		p.state = stateSized
		if p.collector != nil {
			p.collector.ExpectBody(length)
		}
	}
	return nil
}

func (p *Parser) skipInterim() error {
	if p.interim++; p.interim > MaxInterim {
		return errInterim
	}
	if p.collector != nil {
		p.collector.ResetHead()
	}
	p.status, p.chunks.left = 0, 0
	p.flags &= flagHead | flagUpgrade
	p.keepMax = keepUnsaid
	p.state = stateStatus
	return nil
}

func (p *Parser) limit() int64 {
	switch {
	case p.common != nil && p.common.BodyMax > 0:
		return p.common.BodyMax
	case p.collector != nil:
		return p.collector.BodyLimit()
	}
	return MaxBodyDiscarded
}

// take counts body bytes and keeps them if the body is collected. It truncates the body at the
// limit, so that the outcome does not depend on how the bytes arrive.
func (p *Parser) take(data []byte) error {
	room := p.limit() - p.body
	over := int64(len(data)) > room
	if over {
		data = data[:room]
	}
	p.body += int64(len(data))
	if p.collector != nil {
		p.collector.AddBody(data)
	}
	if over {
		return errBodyLarge
	}
	return nil
}
