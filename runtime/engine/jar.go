package engine

import (
	"bytes"

	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/cookie"
	"hyperscale/runtime/protocol/http1"
)

// place returns the origin of a slot's request.
func place(n *pool.RequestSlot, c *http1.Call) cookie.Origin {
	return cookie.Origin{Secure: n.Host.Secure, Host: n.Host.Name, Path: c.Path}
}

// SetCookies stores an answer's cookies in the jar of its user. Only users with cookies have a
// jar.
func (q *requests) SetCookies(n *pool.RequestSlot) {
	jar := q.jars[n.VU]
	if jar == nil {
		jar = new(cookie.Jar)
		q.jars[n.VU] = jar
	}
	call := n.Call
	if call.Template != nil {
		call = q.filledCall(n)
	}
	for i := range q.Slots.Common.Len() {
		jar.Set(q.Clock.Wall(), place(n, call), q.Slots.Common.At(i))
	}
	q.Slots.Common.Reset()
	if jar.Len() == 0 {
		delete(q.jars, n.VU)
	}
}

// forget drops what a user keeps from iteration to iteration.
func (us *users) forget(vu int32) {
	us.Sockets.HangUpAll(vu)
	delete(us.requests.jars, vu)
	delete(us.requests.wallets, vu)
	delete(us.Handshakes.Sessions, vu)
}

// dress adds to a request what no compiled one has: the cookies of its user, its proof, and the
// form for a proxy. It writes into memory of the slot, and leaves a request alone that needs neither.
func (q *requests) dress(index int32) {
	n := q.Slots.At(index)
	proxied := q.Tunnels.Proxy != nil && !n.Host.Tunnelled()
	var jar, own []byte
	call := q.undressed(n)
	head := call.Bytes[:call.HeadLen]
	from, to := cookieField(head)
	if q.jars[n.VU] != nil {
		if from < to {
			own = head[from+len("Cookie: ") : to-2]
		}
		jar = q.jars[n.VU].Append(q.cookies[:0], q.Clock.Wall(), place(n, call), own)
		q.cookies = jar[:0]
	}
	var proof []byte
	if x := q.x[index]; x != nil && x.request.Digest() {
		proof = q.authorization(n, x, call)
	}
	if len(jar)+len(proof) == 0 && !proxied {
		return
	}
	c := q.dressed[index]
	if c == nil {
		c = new(http1.Call)
		q.dressed[index] = c
	}
	b, inserts := c.Bytes[:0], c.Inserts[:0]
	*c = *call
	c.Inserts = append(inserts, call.Inserts...) // those of the last filled request change with the next one
	if proxied {
		method := bytes.IndexByte(head, ' ') + 1
		line := bytes.IndexByte(head, '\n') + 1
		b = append(append(append(b, head[:method]...), "http://"...), n.Host.Authority...)
		b = append(append(b, head[method:line]...), q.Tunnels.Proxy.Authorization...)
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
	if len(proof) > 0 {
		b = append(append(b[:len(b)-2], proof...), "\r\n\r\n"...)
	}
	c.HeadLen = len(b)
	c.Bytes = append(b, call.Bytes[call.HeadLen:]...)
	n.Call = c
}

// cookieField finds the Cookie line that a request has itself.
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
