// Http3 is a server of HTTP/3 on quic-go's own http3, or a client of it in a plain loop, as a test double and
// a peer: nothing of it enters the product. It does not retry, and its client reads each body.
//
//	http3                            serves "hello" on a free port, and prints its URL in one line; a line
//	                                 "count" on its input prints how many requests came. -listen ADDRESS
//	                                 fixes the port, -ledger FILE keeps the count when the server is killed
//	http3 -load URL -n N -users C    sends N requests from C goroutines, each over a connection of its own, and
//	                                 prints the latencies' p50 and p99 and the processor's microseconds a request
//
// The server ends with its input.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func main() {
	url := flag.String("load", "", "URL to load; none: serve")
	n := flag.Int("n", 10000, "requests")
	users := flag.Int("users", 64, "goroutines, each with a connection")
	delay := flag.Duration("delay", 0, "how long the server waits before it answers")
	listen := flag.String("listen", "127.0.0.1:0", "where the server listens")
	ledger := flag.String("ledger", "", "a file that keeps the server's count, 8 bytes; empty: none")
	flag.Parse()
	err := error(nil)
	if *url != "" {
		err = load(*url, *n, *users)
	} else {
		err = serve(*listen, *ledger, *delay)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(listen, ledger string, delay time.Duration) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	socket, err := net.ListenPacket("udp", listen)
	if err != nil {
		return err
	}
	var count counted
	if err := count.open(ledger); err != nil {
		return err
	}
	server := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if err := count.add(); err != nil {
				panic(err) // the connection ends, and the request is not counted
			}
			if delay > 0 {
				time.Sleep(delay)
			}
			_, _ = io.WriteString(w, "hello")
		}),
	}
	go func() { fmt.Fprintln(os.Stderr, server.Serve(socket)) }()
	fmt.Printf("https://%s/\n", socket.LocalAddr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "count" {
			fmt.Println(count.n.Load())
		}
	}
	return server.Close()
}

// counted counts requests, in a file as well if it has one.
type counted struct {
	n    atomic.Uint64
	file *os.File // nil: in memory alone
	mu   sync.Mutex
}

// open goes on with the count of a file; without a path there is none.
func (c *counted) open(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	var text [8]byte
	if _, err := f.ReadAt(text[:], 0); err == nil {
		c.n.Store(binary.NativeEndian.Uint64(text[:]))
	}
	c.file = f
	return c.write()
}

// add counts a request before it is answered.
func (c *counted) add() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.Add(1)
	return c.write()
}

func (c *counted) write() error {
	if c.file == nil {
		return nil
	}
	_, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, c.n.Load()), 0)
	return err
}

func load(url string, n, users int) error {
	all := make([][]time.Duration, users)
	var running sync.WaitGroup
	var failed atomic.Int64
	for i := range users {
		running.Go(func() {
			transport := &http3.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			defer transport.Close()
			for range n / users {
				request, _ := http.NewRequest("GET", url, nil)
				began := time.Now()
				answer, err := transport.RoundTrip(request)
				if err != nil {
					failed.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				all[i] = append(all[i], time.Since(began))
			}
		})
	}
	began := time.Now()
	running.Wait()
	took := time.Since(began)
	sorted := slices.Sorted(slices.Values(slices.Concat(all...)))
	if len(sorted) == 0 {
		return fmt.Errorf("no request was good, %d failed", failed.Load())
	}
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return err
	}
	cpu := time.Duration(use.Utime.Nano() + use.Stime.Nano())
	fmt.Printf("ok %d failed %d rate %.0f p50 %v p99 %v cpu %.1fus\n", len(sorted), failed.Load(), float64(len(sorted))/took.Seconds(),
		sorted[len(sorted)/2], sorted[len(sorted)*99/100], float64(cpu.Microseconds())/float64(len(sorted)))
	return nil
}
