package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// sessionAnswers bounds the answers waiting in a session: a watch gets a few answers a second,
// so a full session has a reader that has not read for a minute.
const sessionAnswers = 256

// Errors of sessions.
var (
	ErrStopped     = errors.New("the node has stopped")
	ErrKilled      = errors.New("the node was killed")
	ErrBusy        = errors.New("the node is busy: its mailbox for commands is full: retry in a second")
	ErrSlowSession = fmt.Errorf("more than %d answers waited: read them faster", sessionAnswers)
)

// Session is one local command and its answers, of which there may be many; the
// message says which is the last. Close it, or end its context.
type Session struct {
	id      node.CommandID
	owner   *sessions
	answers chan node.Message
	unwatch func() bool

	mu    sync.Mutex
	ended bool
	err   error
}

// Answers is closed when no more answers can arrive; Err then says why.
func (s *Session) Answers() <-chan node.Message { return s.answers }

// Err is nil before the end and after Close.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the session; further answers go nowhere.
func (s *Session) Close() { s.owner.end(s, nil) }

// finish closes the channel, once.
func (s *Session) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.err = true, err
	close(s.answers)
	if s.unwatch != nil {
		s.unwatch()
	}
}

// put never blocks. Telemetry that finds no room is skipped, as the next one is
// newer; without anything else a session would be wrong, so it ends.
func (s *Session) put(m node.Message) (fits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return true
	}
	select {
	case s.answers <- m:
		return true
	default:
		return false
	}
}

// sessions are those of one loop.
type sessions struct {
	mu   sync.Mutex
	last node.CommandID
	open map[node.CommandID]*Session
	err  error                   // why no new one can begin
	over func(id node.CommandID) // hears of each that ends before the node does
}

func newSessions(over func(id node.CommandID)) *sessions {
	return &sessions{open: map[node.CommandID]*Session{}, over: over}
}

func (o *sessions) begin() (*Session, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	o.last++
	s := &Session{id: o.last, owner: o, answers: make(chan node.Message, sessionAnswers)}
	o.open[s.id] = s
	return s, nil
}

func (o *sessions) end(s *Session, err error) {
	o.mu.Lock()
	_, open := o.open[s.id]
	delete(o.open, s.id)
	o.mu.Unlock()
	s.finish(err)
	if open {
		o.over(s.id)
	}
}

// endAll ends every session and refuses new ones, with err.
func (o *sessions) endAll(err error) {
	o.mu.Lock()
	o.err = err
	var all []*Session
	for _, s := range o.open {
		all = append(all, s)
	}
	clear(o.open)
	o.mu.Unlock()
	for _, s := range all {
		s.finish(err)
	}
}

func (o *sessions) find(id node.CommandID) *Session {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open[id]
}

// Command hands m to the machine as a local command. The session lives until it
// is closed, ctx ends, or the node does.
func (l *Loop) Command(ctx context.Context, m node.Message) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := l.sessions.begin()
	if err != nil {
		return nil, fmt.Errorf("command %s: %w", message.Name(m.Kind()), err)
	}
	stop := context.AfterFunc(ctx, func() { l.sessions.end(s, context.Cause(ctx)) })
	s.mu.Lock()
	s.unwatch = stop
	ended := s.ended
	s.mu.Unlock()
	if ended {
		stop()
	}
	if !l.inbox.push(&node.Input{Kind: node.InputCommand, Command: s.id, Message: m}, l.source.now()) {
		l.sessions.end(s, ErrBusy)
		return nil, fmt.Errorf("command %s: %w", message.Name(m.Kind()), ErrBusy)
	}
	return s, nil
}
