package program

import (
	"fmt"
	"time"

	"hyperscale/runtime/epoll"
)

// EndWithin is how long the processes may take, together, to end once they have heard the end.
const EndWithin = 2 * time.Second

// End tells the programs that no call follows, and waits until they have said their last lines and ended.
// Log takes what went wrong.
func (f *Fleet) End(turned func(), log func(string)) {
	f.ending, f.until = true, time.Now().Add(EndWithin)
	for _, p := range f.procs {
		if !p.closed {
			p.conn.End()
			f.soil(p)
		}
	}
	f.Flush()
	before := f.fault
	events := make([]epoll.Event, 64)
	for f.live() {
		left := time.Until(f.until)
		if left <= 0 {
			break
		}
		if err := f.wait(events, min(left, turnEvery), turned); err != nil {
			log(err.Error())
			break
		}
		for _, p := range f.procs {
			if _, over := p.conn.Calls(); over && !p.closed && p.pipes.In >= 0 {
				epoll.Close(p.pipes.In) // many programs end with their stdin
				p.pipes.In = -1
			}
		}
	}
	if f.fault != before {
		log(f.fault.Error())
	}
	f.fault = before // the load was over
	for _, c := range f.order {
		c.tell(log)
	}
	f.Close()
}

// live reports whether a process has not ended.
func (f *Fleet) live() bool {
	for _, p := range f.procs {
		if !p.closed {
			return true
		}
	}
	return false
}

// tell compares what a client's processes say with what was sent.
func (c *client) tell(log func(string)) {
	var asked, says uint64
	silent, lives := 0, 0
	for _, p := range c.procs {
		n, over := p.conn.Calls()
		if !p.closed {
			lives++
		}
		asked += p.conn.Asked()
		if says += n; !over {
			silent++
		}
	}
	name := c.of.Program[0]
	switch {
	case c.dead != nil: // the fault says so
	case silent > 0:
		log(fmt.Sprintf("custom program %s: %d of %d processes did not say {\"calls\":N} within %v, and were killed: nothing confirms the %d calls that were sent", name, silent, len(c.procs), EndWithin, asked))
	case says != asked:
		log(fmt.Sprintf("custom program %s: it says it had %d calls, and %d were sent", name, says, asked))
	case lives > 0:
		log(fmt.Sprintf("custom program %s: %d of %d processes did not end within %v, and were killed", name, lives, len(c.procs), EndWithin))
	}
}

// Close closes all pipes.
func (f *Fleet) Close() {
	for _, p := range f.procs {
		f.close(p)
	}
}
