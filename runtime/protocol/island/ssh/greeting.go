package ssh

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/island"
)

// greeting is the key exchange and the authentication of one connection, and for SFTP the opening of its
// subsystem.
type greeting struct {
	protocol *Protocol
	use      Use
	link     *link
}

var _ codec.IslandGreeting = (*greeting)(nil)

// Begin implements codec.Greeting: the library writes when its goroutines run.
func (g *greeting) Begin(dst []byte) []byte { return dst }

// Land implements codec.IslandGreeting.
func (g *greeting) Land(crew *island.Crew, tag uint64) error {
	shore := crew.Shore(tag)
	g.link = &link{
		protocol: g.protocol, shore: shore, stream: island.NewStream(shore, g.protocol.at),
		tasks: make(chan task, 1), stop: make(chan struct{}), use: g.use,
	}
	if err := crew.Go(g.link.run, g.link.fail); err != nil {
		return err
	}
	crew.Fed()
	return nil
}

// Hear implements codec.Greeting.
func (g *greeting) Hear(dst, b []byte) ([]byte, int, codec.Dialogue, error) {
	s := g.link.stream
	s.Feed(b)
	for out := s.Output(); len(out) > 0; out = s.Output() {
		dst = append(dst, out...)
		s.Sent(len(out))
	}
	open, err := g.link.state()
	if err != nil || !open {
		return dst, len(b), nil, err
	}
	return dst, len(b), &Conn{link: g.link}, nil
}

// Untimed implements codec.Untimed.
func (g *greeting) Untimed() {}

// Look implements codec.Island.
func (g *greeting) Look() { g.link.shore.Seen() }

// Full implements codec.Island.
func (g *greeting) Full() bool { return g.link.stream.Full() }

// End implements codec.Island.
func (g *greeting) End(err error) { g.link.stream.End(err) }

// Drop implements codec.Dropped.
func (g *greeting) Drop() {
	if g.link != nil {
		g.link.close()
	}
}
