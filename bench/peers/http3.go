package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go/http3"
)

const http3Connections = 64

// startHTTP3 starts a server of quic-go. Its address has no scheme.
func startHTTP3(dir string, cpus []int) (*server, error) {
	s, err := startBuilt("http3", "count", dir, cpus)
	if err != nil {
		return nil, err
	}
	s.Address = strings.TrimSuffix(strings.TrimPrefix(s.Address, "https://"), "/")
	return s, nil
}

// http3Loop asks over quic-go's http3.Transport, a goroutine with a connection of its own each.
func http3Loop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	for range c.Connections {
		all.Go(func() {
			transport := &http3.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			defer func() { _ = transport.Close() }()
			n := uint64(0)
			for ; n%16 != 0 || time.Now().Before(until); n++ {
				if err := http3Asks(transport, "https://"+c.Address+"/"); err != nil {
					failed.Add(1)
					break
				}
			}
			done.Add(n)
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

func http3Asks(transport *http3.Transport, url string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return err
}

// http3 compares GETs of a small answer, a connection a user.
func (b *bench) http3() error {
	s, err := startHTTP3(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	us, err := b.ours("http3", 1, flow{Name: "http3", URL: "https://" + s.Address + "/", VUs: http3Connections, Duration: b.duration, More: http3Client})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "http3.Transport", Address: s.Address, Connections: http3Connections, Duration: b.duration})
	if err != nil {
		return err
	}
	rows := b.cost("http3", fmt.Sprintf("%d connections, a small answer", http3Connections), s, []contender{us, peer})
	b.bars("0.8", rows, rival{"http3.Transport", 1 / 0.8})
	return nil
}

// http3Client is what a workflow says of its connections.
const http3Client = `http = http.client(version = "3", tls = tls(verify = False)), `

func (b *bench) takesHTTP3() time.Duration { return b.turns(2*b.rounds, b.duration) }
