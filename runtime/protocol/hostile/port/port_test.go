package port

import (
	"net"
	"testing"
	"time"
)

// Close ends what waits, and the connections that their clients keep open.
func TestCloseLeavesNothing(t *testing.T) {
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	waited, numbers := make(chan bool, 1), make(chan int, 2)
	p.Serve(func(c *net.TCPConn, number int) {
		if numbers <- number; number == 1 {
			waited <- p.Wait(time.Hour)
			return
		}
		_, _ = c.Read(make([]byte, 1))
	})
	for range 2 {
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if sum := <-numbers + <-numbers; sum != 3 {
		t.Errorf("the numbers of two connections add up to %d", sum)
	}
	p.Close()
	if <-waited {
		t.Error("Wait slept for an hour")
	}
	if c, err := net.Dial("tcp", p.Address()); err == nil {
		c.Close()
		t.Error("the port takes connections after Close")
	}
}
