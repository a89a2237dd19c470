package lease

import (
	"errors"
	"fmt"
	clock "time"
)

type machine struct {
	inbox chan int
	since clock.Duration
}

func (m *machine) run() {
	go m.run()
	select {
	case <-m.inbox:
	default:
	}
	m.inbox <- 1
}

func (m *machine) wait() clock.Time {
	clock.Sleep(clock.Second)
	read := clock.Now
	m.since = clock.Since(read())
	clock.AfterFunc(clock.Second, m.run)
	return clock.Unix(0, 0).Add(clock.Until(read()))
}

func before(a, b clock.Time) bool { return b.After(a) && a.Sub(b) < clock.Hour }

func (m *machine) print() error {
	const form = "machine %" + "p"
	fmt.Printf(form, m)
	fmt.Printf("100%%p of %#x", m.since)
	return errors.Join(fmt.Errorf("at %[1]p", m), errors.New("%p"))
}
