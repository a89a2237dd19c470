package nats

import (
	_ "github.com/pkg/sftp"
)

func tests(done chan int) { <-done }
