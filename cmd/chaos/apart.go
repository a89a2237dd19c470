package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	results "hyperscale/runtime/report"
	"hyperscale/runtime/target"
)

// parted is a cluster in three places: the gates and their clients with the first datacenter, and each other datacenter by itself.
var parted = shape{gates: 3, datacenters: 3, managers: 3, workers: 1, clients: 1}

// apartJobs is how many jobs run on all datacenters, one after the other, and apartWithin bounds each.
const (
	apartJobs   = 5
	apartWithin = time.Minute
)

// wall parts places. Between two of them it passes TCP of a gate's port alone, as a firewall does that admits nothing else.
type wall struct {
	place  map[byte]byte // of hosts: 'a' and so on; none: a host that all may reach
	gates  map[byte]bool
	passed int            // packets between places
	held   map[string]int // packets, by what they were
}

// gatePort is the port of gates, and of all other nodes.
const gatePort = 7400

func newWall(c *cluster) *wall {
	w := &wall{place: map[byte]byte{}, gates: map[byte]bool{}, held: map[string]int{}}
	for _, m := range c.machines {
		w.place[m.host], w.gates[m.host] = placeOf(m.name), m.role == "gate"
	}
	for _, m := range c.clients {
		w.place[m.host] = 'a'
	}
	return w
}

// placeOf is where a node stands: manager-b-1 in b, and gates with a.
func placeOf(name string) byte {
	if parts := strings.Split(name, "-"); len(parts) == 3 {
		return parts[1][0]
	}
	return 'a'
}

// Protocols of IPv4.
const (
	protocolTCP = 6
	protocolUDP = 17
)

// passes decides on one IPv4 packet.
func (w *wall) passes(packet []byte) bool {
	from, to := packet[15], packet[19]
	a, b := w.place[from], w.place[to]
	if a == 0 || b == 0 || a == b {
		return true
	}
	head := int(packet[0]&15) * 4
	switch protocol := packet[9]; {
	case protocol == protocolUDP:
		w.held["UDP"]++
		return false
	case protocol != protocolTCP:
		w.held["other"]++
		return false
	case len(packet) < head+4:
		w.held["TCP"]++
		return false
	}
	source, target := binary.BigEndian.Uint16(packet[head:]), binary.BigEndian.Uint16(packet[head+2:])
	if w.gates[to] && target == gatePort || w.gates[from] && source == gatePort {
		w.passed++
		return true
	}
	w.held["TCP"]++
	return false
}

// apart runs jobs on datacenters that reach each other's nodes in nothing but the gates' TCP port. Each has one result, which is
// whole.
func apart(ctx context.Context, o options) error {
	dir := filepath.Join(o.dir, "apart")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	c, err := start(o, dir, o.seed)
	if err != nil {
		return err
	}
	defer c.kill()
	if err := c.settle(ctx); err != nil {
		return err
	}
	file := filepath.Join(dir, "test.star")
	if err := os.WriteFile(file, []byte(testFile), 0o644); err != nil {
		return err
	}
	started := uint64(0)
	for n := range apartJobs {
		r, err := c.everywhere(ctx, file, n)
		if err != nil {
			return err
		}
		told := 0 // datacenters that have sent something
		for _, d := range r.Datacenters {
			if d.Figures != nil && d.Totals.Started > 0 {
				told++
			}
		}
		log.Printf("job %d: %s on %d datacenters, %d of %d requests answered", n+1, r.Outcome, told, r.Totals.OK, r.Totals.Started)
		if started += r.Totals.Started; r.Outcome != "COMPLETED" || told != c.shape.datacenters || r.Totals.Failed > 0 {
			return fmt.Errorf("job %d: want COMPLETED on %d datacenters, and no failed request: its result is in %s", n+1, c.shape.datacenters, dir)
		}
	}
	had, err := c.targetHad()
	if err != nil {
		return err
	}
	c.fabric.mu.Lock()
	passed, held := c.fabric.wall.passed, maps.Clone(c.fabric.wall.held)
	c.fabric.mu.Unlock()
	log.Printf("between the places %d packets passed, and %v were held back", passed, held)
	if had != started || passed == 0 || len(held) > 0 {
		return fmt.Errorf("the results have %d requests, and the target had %d; %d packets crossed, and %v were held back", started, had, passed, held)
	}
	c.kill()
	var r report
	if err := r.judge(dir, c.deaths.inOrder(), c.births.inOrder()); err != nil {
		return err
	}
	if len(r.violations) > 0 || r.results != apartJobs {
		return fmt.Errorf("the checker found %v in %d results: histories are in %s", r.violations, r.results, dir)
	}
	return os.RemoveAll(dir)
}

// everywhere submits one job to all datacenters, and returns its result.
func (c *cluster) everywhere(ctx context.Context, file string, n int) (*results.Result, error) {
	var names []string
	for d := range c.shape.datacenters {
		names = append(names, "dc-"+string(rune('a'+d)))
	}
	client, key := c.clients[0], fmt.Sprint("apart-", n)
	out := resultFile(c.dir, client.name, key)
	cmd := c.ask("submit", file, "--datacenters", strings.Join(names, ","), "--key", key, "--wait", "--ui", "none", "--set", "target=http://"+address(c.target.host)+":8080",
		"--out", "json="+out, "--journal", filepath.Join(c.dir, client.name+"-"+key+".history"))
	cmd.Env = append(os.Environ(), "HYPERSCALE_HISTORY=off")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	ctx, cancel := context.WithTimeout(ctx, apartWithin)
	defer cancel()
	err := cmd.Start()
	if err == nil {
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended a moment ago
		err = cmd.Wait()
		stop()
	}
	if err != nil {
		return nil, fmt.Errorf("job %d: %w: %s", n+1, err, &said)
	}
	return results.Read(out)
}

// targetHad is how many requests the target had.
func (c *cluster) targetHad() (uint64, error) {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get("http://" + address(c.target.host) + ":8080/__stats")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var s target.Stats
	err = json.NewDecoder(answer.Body).Decode(&s)
	return s.Requests, err
}
