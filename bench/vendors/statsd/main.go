// Command statsd reads datagrams with the parser of Prometheus' statsd_exporter, for tests. Its argument is `dogstatsd` or
// `influxdb`, the tags that it knows, and the file of a unix socket to listen on beside UDP. It prints its address, and
// that of a page: GET returns what it has read as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/statsd_exporter/pkg/event"
	"github.com/prometheus/statsd_exporter/pkg/line"
)

// Read is one line.
type Read struct {
	Name     string
	Value    float64
	Labels   map[string]string
	Gauge    bool
	Relative bool
}

// All is what the page tells.
type All struct {
	Read    []Read
	Longest int // bytes of a datagram
	Bad     []string
}

func main() {
	parser := line.NewParser()
	if os.Args[1] == "dogstatsd" {
		parser.EnableDogstatsdParsing()
	} else {
		parser.EnableInfluxdbParsing()
	}
	errors := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "errors"}, []string{"reason"})
	one := func(name string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name})
	}
	samples, tagErrors, tags := one("samples"), one("tag_errors"), one("tags")
	var mu sync.Mutex
	all := All{}
	take := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		all.Longest = max(all.Longest, len(text))
		for l := range strings.SplitSeq(text, "\n") {
			events := parser.LineToEvents(l, *errors, samples, tagErrors, tags, slog.New(slog.DiscardHandler))
			if len(events) != 1 {
				all.Bad = append(all.Bad, l)
				continue
			}
			r := Read{Name: events[0].MetricName(), Value: events[0].Value(), Labels: events[0].Labels()}
			if g, ok := events[0].(*event.GaugeEvent); ok {
				r.Gauge, r.Relative = true, g.GRelative
			}
			all.Read = append(all.Read, r)
		}
	}
	listen := func(network, address string) net.PacketConn {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			b := make([]byte, 1<<16)
			for {
				n, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				take(string(b[:n]))
			}
		}()
		return c
	}
	c := listen("udp", "127.0.0.1:0")
	if len(os.Args) > 2 {
		listen("unixgram", os.Args[2])
	}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.LocalAddr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(w).Encode(all)
	})))
}
