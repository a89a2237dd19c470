package engine

import (
	"bytes"

	"hyperscale/runtime/protocol/cookie"
	"hyperscale/runtime/protocol/http1"
)

// place is where a lane's request goes.
func (n *lane) place(c *http1.Call) cookie.Origin {
	return cookie.Origin{Secure: n.host.secure, Host: n.host.name, Path: c.Path}
}

// setCookies puts what an answer sets into the jar of its user, which only who has cookies
// has.
func (l *loop) setCookies(n *lane) {
	jar := l.jars[n.vu]
	if jar == nil {
		jar = new(cookie.Jar)
		l.jars[n.vu] = jar
	}
	call := n.call
	if call.Template != nil {
		call = l.filledCall(n)
	}
	for i := range l.common.Len() {
		jar.Set(l.clock.Wall(), n.place(call), l.common.At(i))
	}
	l.common.Reset()
	if jar.Len() == 0 {
		delete(l.jars, n.vu)
	}
}

// forget takes from a user what it keeps from iteration to iteration.
func (l *loop) forget(vu int32) {
	l.hangUpAll(vu)
	delete(l.jars, vu)
	delete(l.sessions, vu)
}

// dress gives a request what no compiled one has: the cookies of its user, and the form
// that a proxy wants. It is written into memory of its lane. Who has neither is left alone.
func (l *loop) dress(index int32) {
	n := l.lane(index)
	proxied := l.proxy != nil && !n.host.secure
	var jar, own []byte
	call := l.undressed(n)
	head := call.Bytes[:call.HeadLen]
	from, to := cookieField(head)
	if l.jars[n.vu] != nil {
		if from < to {
			own = head[from+len("Cookie: ") : to-2]
		}
		jar = l.jars[n.vu].Append(l.cookies[:0], l.clock.Wall(), n.place(call), own)
		l.cookies = jar[:0]
	}
	if len(jar) == 0 && !proxied {
		return
	}
	c := l.dressed[index]
	if c == nil {
		c = new(http1.Call)
		l.dressed[index] = c
	}
	b := c.Bytes[:0]
	*c = *call
	if proxied {
		method := bytes.IndexByte(head, ' ') + 1
		line := bytes.IndexByte(head, '\n') + 1
		b = append(append(append(b, head[:method]...), "http://"...), n.host.authority...)
		b = append(append(b, head[method:line]...), l.proxy.authorization...)
		head, to = head[line:], to-line
	}
	switch {
	case len(jar) == 0:
		b = append(b, head...)
	case len(own) > 0:
		b = append(append(append(b, head[:to-2]...), "; "...), jar...)
		b = append(b, head[to-2:]...)
	default:
		b = append(append(append(b, head[:len(head)-2]...), "Cookie: "...), jar...)
		b = append(b, "\r\n\r\n"...)
	}
	c.HeadLen = len(b)
	c.Bytes = append(b, call.Bytes[call.HeadLen:]...)
	n.call = c
}

// cookieField finds the line of a head that a request has written itself.
func cookieField(head []byte) (from, to int) {
	const name = "Cookie: "
	for at := bytes.IndexByte(head, '\n') + 1; at < len(head); {
		end := at + bytes.IndexByte(head[at:], '\n') + 1
		if end <= at {
			break
		}
		if end-at > len(name) && head[at]|0x20 == 'c' && bytes.EqualFold(head[at:at+len(name)], []byte(name)) {
			return at, end
		}
		at = end
	}
	return 0, 0
}
