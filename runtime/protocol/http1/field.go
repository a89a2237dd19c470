package http1

import "bytes"

var (
	errFieldName   = &Error{KindProtocol, "a header line has no valid field name"}
	errFieldValue  = &Error{KindProtocol, "a header value holds a NUL or a bare carriage return"}
	errFold        = &Error{KindProtocol, "a header line is folded where it must not be"}
	errLength      = &Error{KindProtocol, "Content-Length is not a number"}
	errLengthTwice = &Error{KindProtocol, "two Content-Length fields differ"}
	errLengthHuge  = &Error{KindTooLarge, "Content-Length exceeds 1 TiB"}
	errCoding      = &Error{KindProtocol, "Transfer-Encoding is not chunked alone, and none other was asked for"}
)

// tokenChar marks the characters of a field name or method (RFC 9110, 5.6.2).
var tokenChar = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

func isFold(line []byte) bool { return line[0] == ' ' || line[0] == '\t' }

func checkValue(value []byte) error {
	if bytes.IndexByte(value, 0) >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		return errFieldValue
	}
	return nil
}

// splitField checks a field line and cuts it into name and trimmed value.
func splitField(line []byte) (name, value []byte, err error) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, errFieldName
	}
	name = line[:colon]
	for _, c := range name {
		if !tokenChar[c] {
			return nil, nil, errFieldName
		}
	}
	value = trimBlank(line[colon+1:])
	return name, value, checkValue(value)
}

func trimBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// field takes one header line of a response's head.
func (p *Parser) field(line []byte) error {
	if isFold(line) {
		return p.fold(line)
	}
	name, value, err := splitField(line)
	if err != nil {
		return err
	}
	p.flags = p.flags&^flagFraming | flagField
	if p.collector != nil {
		p.collector.AddField(name, value)
	}
	switch len(name) {
	case len("Connection"):
		if foldEqual(name, "Connection") {
			p.connection(value)
		} else if foldEqual(name, "Keep-Alive") {
			p.keepAliveField(value)
		} else if p.common != nil && foldEqual(name, "Set-Cookie") {
			p.common.Add(value)
		}
	case len("Content-Length"):
		if foldEqual(name, "Content-Length") {
			return p.contentLength(value)
		}
	case len("Transfer-Encoding"):
		if foldEqual(name, "Transfer-Encoding") {
			return p.transferEncoding(value)
		}
	}
	return nil
}

// fold accepts an obsolete continuation line, but never of a field that says where the
// response ends: there, two readers could see two lengths.
func (p *Parser) fold(line []byte) error {
	if p.flags&flagField == 0 || p.flags&flagFraming != 0 {
		return errFold
	}
	if p.collector != nil {
		p.collector.foldField(trimBlank(line))
	}
	return checkValue(line)
}

func (p *Parser) connection(value []byte) {
	for len(value) > 0 {
		var option []byte
		option, value = cutList(value)
		if foldEqual(option, "close") {
			p.flags |= flagClose
		} else if foldEqual(option, "keep-alive") {
			p.flags |= flagKeep
		}
	}
}

// keepAliveField reads "timeout=5, max=100" and ignores anything else, since the field is a
// hint.
func (p *Parser) keepAliveField(value []byte) {
	for len(value) > 0 {
		var option []byte
		option, value = cutList(value)
		key, number, found := bytes.Cut(option, []byte{'='})
		n, ok := parseNumber(number)
		if !found || !ok {
			continue
		}
		if foldEqual(key, "max") {
			p.keepMax = uint16(min(n, keepUnsaid-1))
		}
	}
}

func (p *Parser) contentLength(value []byte) error {
	p.flags |= flagFraming
	n, ok := parseNumber(value)
	if !ok {
		return errLength
	}
	if n > MaxBodyDiscarded {
		return errLengthHuge
	}
	if p.flags&flagLength != 0 && n != p.chunks.left {
		return errLengthTwice
	}
	p.flags |= flagLength
	p.chunks.left = n
	return nil
}

func (p *Parser) transferEncoding(value []byte) error {
	if p.flags&flagChunked != 0 || !foldEqual(value, "chunked") {
		return errCoding
	}
	p.flags |= flagFraming | flagChunked
	return nil
}

// parseNumber reads decimal digits and nothing else. A number too large to be held
// comes back as the largest one, so that callers refuse it by their bound.
func parseNumber(b []byte) (int64, bool) {
	const most = int64(1) << 62
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int64(c-'0'); n > most/10 {
			n = most / 10
		}
	}
	return n, len(b) > 0
}

// cutList takes the first element of a comma-separated list.
func cutList(list []byte) (element, rest []byte) {
	comma := bytes.IndexByte(list, ',')
	if comma < 0 {
		return trimBlank(list), nil
	}
	return trimBlank(list[:comma]), list[comma+1:]
}
