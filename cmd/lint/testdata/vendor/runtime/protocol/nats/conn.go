package nats

import (
	_ "github.com/pkg/sftp"
)

func runs(done chan int) {
	go func() { done <- 1 }()
	select {
	case <-done:
	}
}
