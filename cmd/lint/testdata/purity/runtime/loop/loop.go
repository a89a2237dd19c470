package loop

import (
	"sync"
	"time"
)

// Run may do all of it: the rules are for pure rooms.
func Run(m map[string]int) {
	var group sync.WaitGroup
	group.Go(func() { time.Sleep(time.Millisecond) })
	group.Wait()
	for range m {
		go Run(nil)
	}
}
