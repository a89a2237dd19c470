package measure

import "hyperscale/core/message"

// Reporter passes figures to a slow listener without delaying the load: while the listener is
// busy, newer figures replace older ones.
type Reporter struct {
	news chan *message.Stats
	done chan struct{}
}

func NewReporter(tell func(*message.Stats)) *Reporter {
	if tell == nil {
		return nil
	}
	t := &Reporter{news: make(chan *message.Stats, 1), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for s := range t.news {
			tell(s)
		}
	}()
	return t
}

// Report is called from one goroutine.
func (t *Reporter) Report(s message.Stats) {
	select {
	case <-t.news:
	default:
	}
	t.news <- &s
}

func (t *Reporter) Close() {
	if t != nil {
		close(t.news)
		<-t.done
	}
}
