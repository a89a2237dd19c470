package websocket

// Idle returns how many buffers and inflaters no connection holds.
func (p *Pool) Idle() (buffers, inflaters int) {
	return len(p.small.buffers) + len(p.large.buffers), len(p.inflaters)
}
