package lease

import (
	"os"
	"sync"
	"testing"
	"time"
)

func TestWait(t *testing.T) {
	var group sync.WaitGroup
	done := make(chan string, 1)
	go func() { done <- os.TempDir() }()
	<-done
	group.Wait()
	time.Sleep(time.Millisecond)
	t.Logf("%p", &group)
}
