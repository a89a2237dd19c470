package talk

import (
	"bytes"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/redis/pubsub"
	"hyperscale/runtime/protocol/websocket"
)

// Greeting is how the dialogue of a session begins, and what the peer's goodbye means.
type Greeting interface {
	Open() codec.Opening
	// Begin says what the session says first, and reports whether it is open now. If not, a message
	// that opens it will come.
	Begin(d codec.Dialogue, a *measure.Account) (open bool)
	// Read returns a message that came. One that opens the session is none for its functions.
	Read(d codec.Dialogue, kind codec.MessageKind, payload []byte) (m session.Message, opens bool)
	// Leave says goodbye.
	Leave(d codec.Dialogue, code uint16)
	// Left returns the failure that a goodbye means; nil: it ends the session in order.
	Left(code uint16, reason string) error
	Status() uint16 // of the whole, if nothing fails
}

// Socket greets for WebSocket.
type Socket struct{ protocol *websocket.Protocol }

var _ Greeting = Socket{}

// NewSocket returns the greeting of a request, with bounds for each message.
func (m *Memory) NewSocket(s *request.Socket, messageMax int64) (Socket, error) {
	protocol, err := protocolOf(s, messageMax, &m.messages)
	return Socket{protocol}, err
}

// Open implements Greeting.
func (s Socket) Open() codec.Opening { return codec.Opening{Upgrade: s.protocol.Upgrade()} }

// Begin implements Greeting: an upgraded connection is open.
func (Socket) Begin(codec.Dialogue, *measure.Account) bool { return true }

// Read implements Greeting.
func (Socket) Read(_ codec.Dialogue, kind codec.MessageKind, payload []byte) (session.Message, bool) {
	return session.Message{Data: bytes.Clone(payload), Binary: kind == codec.MessageBinary}, false
}

// Leave implements Greeting.
func (Socket) Leave(d codec.Dialogue, code uint16) { d.Leave(code, "") }

// Status implements Greeting: it is that of the upgrade.
func (Socket) Status() uint16 { return statusUpgraded }

// Left implements Greeting: 1000 and a goodbye without a code are orderly.
func (Socket) Left(code uint16, reason string) error {
	if code == websocket.CodeNormal || code == websocket.CodeNone {
		return nil
	}
	return websocket.Left(code, reason)
}

// Waiter is what waits for a session to go on.
type Waiter interface {
	Opened() // its dialogue has begun
	Came()   // a message, an answer to a ping, or the end
	Took()   // the kernel has taken bytes
}

// Session is a dialogue that its user's functions send to and receive from. The time of a message is
// that of the read which brought its last byte, whenever a function asks for it.
type Session struct {
	Inbox
	stock    *Stock
	greeting Greeting
	on       Waiter
	account  *measure.Account
	dialogue codec.Dialogue // nil: it is not open
	times
	ping    pinged
	head    []builtin.Pair
	keeps   bool // the head is read
	leaving bool // we have said goodbye
	over    bool // the peer has, too
}

// times are the instants from which messages count.
type times struct {
	due    int64 // the intended start
	opened int64
	got    int // messages
	asked
}

// shift moves them to a clock that began so much later.
func (t *times) shift(by int64) {
	t.due, t.opened = t.due-by, t.opened-by
	t.asked.shift(by)
}

var _ pool.Session = (*Session)(nil)

// Open returns a session that is due then, and not open. Keeps says that the head of its answer is
// read.
func (k *Stock) Open(g Greeting, on Waiter, a *measure.Account, due int64, keeps bool) *Session {
	return &Session{stock: k, greeting: g, on: on, account: a, times: times{due: due}, keeps: keeps}
}

// Head returns the fields of the answer that opened it, or did not.
func (s *Session) Head() []builtin.Pair { return s.head }

// Greets implements pool.Session.
func (s *Session) Greets(answer codec.Fields) {
	for i := range answer.Len() {
		if name, value := answer.At(i); s.keeps {
			s.head = append(s.head, builtin.Pair{Name: string(name), Value: string(value)})
		}
	}
}

// Shift moves the session's instants to a clock that began so much later.
func (s *Session) Shift(by int64) {
	s.shift(by)
	if a, asks := s.greeting.(asker); asks {
		a.shift(by)
	}
	s.ping.at -= by
}

// Tell queues a message. Not queued: nothing more can be sent.
func (s *Session) Tell(data []byte, binary bool) (queued bool, err error) {
	if s.dialogue == nil || s.leaving || s.over {
		return false, nil
	}
	kind := codec.MessageText
	if binary {
		kind = codec.MessageBinary
	}
	if s.stock.show != nil {
		s.stock.show("> ", data)
	}
	if err := s.dialogue.Send(kind, data, s.account.Messages().Sent()); err != nil {
		if http1.KindOf(err) == http1.KindClosed {
			return false, nil
		}
		return false, err
	}
	s.asked.add(s.stock.clock.Tick())
	return true, nil
}

// Crowded reports whether a sender must wait.
func (s *Session) Crowded() bool { return s.dialogue != nil && s.dialogue.Unsent() > unsentMost }

// Ping asks whether the peer is there; Ponged answers.
func (s *Session) Ping() bool {
	if s.dialogue == nil || s.leaving || s.over {
		return false
	}
	s.ping = pinged{payload: s.ping.payload + 1, at: s.stock.clock.Tick()}
	s.dialogue.Ping(s.ping.payload)
	return true
}

// Pong returns how long the answer to the last ping took; 0: there is none.
func (s *Session) Pong() time.Duration { return s.ping.took }

// Part ends the session: its connection is closed.
func (s *Session) Part() { s.dialogue = nil }

// Leave says goodbye. What the peer still sends counts, and is dropped.
func (s *Session) Leave(code uint16) {
	if s.Shut(); s.dialogue != nil && !s.leaving {
		s.greeting.Leave(s.dialogue, code)
		s.shows(s.dialogue)
	}
	s.leaving = true
}

// Open implements pool.Talk.
func (s *Session) Open() codec.Opening {
	s.opened = s.stock.clock.Now
	return s.greeting.Open()
}

// welcomed is a greeting whose time is measured.
type welcomed interface {
	Welcomed(a *measure.Account, after int64)
}

// Say implements pool.Talk: the dialogue has begun.
func (s *Session) Say(d codec.Dialogue) error {
	if r, may := d.(codec.Refuser); may && r.Refusal() != nil {
		return r.Refusal()
	}
	if of, is := s.greeting.(welcomed); is {
		of.Welcomed(s.account, s.stock.clock.Now-s.opened)
	}
	s.dialogue = d
	if s.greeting.Begin(d, s.account) {
		s.opens()
	} else {
		s.shows(d)
	}
	return nil
}

// opens opens the session for its functions.
func (s *Session) opens() {
	s.opened = s.stock.clock.Now
	s.on.Opened()
}

// Hear implements pool.Talk.
func (s *Session) Hear(kind codec.MessageKind, payload []byte) {
	now := s.stock.clock.Now
	a, asks := s.greeting.(asker)
	if asks && a.ended(kind) {
		s.on.Came() // a function that waits asks again
		return
	}
	message, opens := s.greeting.Read(s.dialogue, kind, payload)
	if opens {
		s.opens()
		return
	}
	if !message.Retains { // it was kept, and is as old as its server wants
		s.stock.datedPairs(s.account, message.Headers)
	}
	m := s.account.Messages()
	if s.got++; s.got == 1 {
		m.First(now - s.due)
	}
	since, was := s.asked.answered()
	if was {
		m.Received(now - since)
	} else {
		if since = s.opened; asks {
			since = a.since()
		}
		m.Pushed()
	}
	if s.stock.show != nil {
		s.stock.show("< ", payload)
	}
	if !s.shut {
		message.Latency = time.Duration(now - since)
		s.Put(message)
		s.on.Came()
	}
}

// Ponged implements pool.Session.
func (s *Session) Ponged(payload uint64) {
	if payload != s.ping.payload || s.ping.took != 0 {
		return
	}
	s.ping.took = max(1, time.Duration(s.stock.clock.Now-s.ping.at))
	s.account.Messages().Ponged(int64(s.ping.took))
	s.on.Came()
}

// Took implements pool.Session.
func (s *Session) Took() { s.on.Took() }

// Ends implements pool.Session: a peer that knows of our goodbye may answer with TCP's end alone.
func (s *Session) Ends() { s.over = s.over || s.leaving }

// Deaf implements pool.Talk.
func (s *Session) Deaf() bool { return false }

// Enough implements pool.Talk.
func (s *Session) Enough() bool { return s.over }

// Status implements pool.Talk.
func (s *Session) Status() uint16 { return s.greeting.Status() }

// Stays implements pool.Talk: the connection is the session's alone.
func (s *Session) Stays() bool { return false }

// Left implements pool.Talk.
func (s *Session) Left(code uint16, reason string) error {
	err := s.greeting.Left(code, reason)
	s.over = s.leaving || err == nil
	if s.over {
		return nil
	}
	return err
}

// subscription greets for vu.redis.subscribe: behind the greeting of every connection to the server, the
// session is open when the server has confirmed each name.
type subscription struct {
	greets     *redis.Protocol
	names      *pubsub.Names
	messageMax int64
}

var _ Greeting = (*subscription)(nil)

// newSubscription reads the commands of a request that subscribes.
func newSubscription(commands [][]string, greets *redis.Protocol, messageMax int64) *subscription {
	of := map[string][]string{}
	for _, c := range commands {
		of[c[0]] = c[1:]
	}
	return &subscription{greets, pubsub.NewNames(of["SUBSCRIBE"], of["PSUBSCRIBE"], of["SSUBSCRIBE"]), messageMax}
}

// Open implements Greeting, as the methods below do.
func (s *subscription) Open() codec.Opening {
	if s.greets.Greets() {
		return codec.Opening{Greeting: &subscribed{s.greets.Greet(), s}}
	}
	return codec.Opening{Dialogue: s.begin()}
}

func (s *subscription) begin() *pubsub.Conn { return pubsub.New(s.names, s.messageMax) }

// subscribed is the greeting of a connection that will subscribe.
type subscribed struct {
	*redis.Greeting
	of *subscription
}

// Hear implements codec.Greeting.
func (g *subscribed) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	if out, used, d, err = g.Greeting.Hear(dst, b); d != nil {
		d = g.of.begin()
	}
	return out, used, d, err
}

// Begin subscribes.
func (s *subscription) Begin(d codec.Dialogue, a *measure.Account) bool {
	d.(*pubsub.Conn).Subscribe(a.Commands().Sent())
	return false
}

// Read returns a message with its channel.
func (s *subscription) Read(d codec.Dialogue, kind codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	if kind == pubsub.MessageStands {
		return m, true
	}
	from := d.(*pubsub.Conn).From()
	return session.Message{Data: bytes.Clone(payload), Binary: kind == codec.MessageBinary, Channel: from.Channel, Pattern: from.Pattern}, false
}

// Leave unsubscribes: the server confirms that, which ends the session.
func (s *subscription) Leave(d codec.Dialogue, _ uint16) { d.(*pubsub.Conn).Unsubscribe() }

// Left is orderly: only what was asked for ends a subscription so.
func (s *subscription) Left(uint16, string) error { return nil }

// Status is that of every answer of Redis which is no error.
func (s *subscription) Status() uint16 { return 200 }

// shows shows the commands that a dialogue has queued, if anything does and they are Redis's.
func (s *Session) shows(d codec.Dialogue) {
	if c, ok := d.(*pubsub.Conn); ok && s.stock.show != nil && len(c.Output()) > 0 {
		s.stock.show("> ", redis.Describe(nil, c.Output(), true))
	}
}

// The bounds of what a session keeps.
const (
	unreadMost      = 256      // messages that no function has received
	unreadBytesMost = 1 << 20  // bytes of them
	unsentMost      = 64 << 10 // bytes that a sender need not wait for
	askedMost       = 1024     // messages whose answers are timed
)

// Inbox is what a session has read and its functions have not received.
type Inbox struct {
	unread queue.Queue[session.Message]
	bytes  int
	shut   bool // its functions receive no more: what comes is dropped
}

// Put adds what was read.
func (b *Inbox) Put(m session.Message) {
	if b.shut {
		return
	}
	b.unread.Push(m)
	b.bytes += m.Size()
}

// Take returns the oldest message, if there is one.
func (b *Inbox) Take() (m session.Message, ok bool) {
	if b.unread.Len() == 0 {
		return m, false
	}
	m = b.unread.Pop()
	b.bytes -= m.Size()
	return m, true
}

// Full implements pool.Reader.
func (b *Inbox) Full() bool { return b.unread.Len() >= unreadMost || b.bytes >= unreadBytesMost }

// Roomy reports whether enough was received to read on.
func (b *Inbox) Roomy() bool {
	return b.unread.Len() <= unreadMost/2 && b.bytes <= unreadBytesMost/2
}

// Shut drops what no function has received.
func (b *Inbox) Shut() { *b = Inbox{shut: true} }

// asked are the instants of messages that have no answer yet, the oldest first.
type asked struct{ at queue.Queue[int64] }

// add notes a message. Beyond the bound it is not timed.
func (a *asked) add(now int64) {
	if a.at.Len() < askedMost {
		a.at.Push(now)
	}
}

// answered returns since when a message that comes now was waited for; none: its peer sent it of
// its own accord.
func (a *asked) answered() (since int64, was bool) {
	if a.at.Len() == 0 {
		return 0, false
	}
	return a.at.Pop(), true
}

// shift moves the instants to a clock that began so much later.
func (a *asked) shift(by int64) {
	for range a.at.Len() {
		a.at.Push(a.at.Pop() - by)
	}
}

// pinged is a ping that waits for its answer.
type pinged struct {
	payload uint64
	at      int64
	took    time.Duration // 0: it has none
}
