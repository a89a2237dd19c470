package engine

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/hostiletest"
	"hyperscale/runtime/protocol/hostile/mqtt/mqtttest"
)

// cuts carries connections to a server, and cuts each of them at the server's first PUBACK.
func cuts(t *testing.T, to string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer func() { _ = s.Close() }()
				go func() {
					b := make([]byte, 4096)
					for n, err := c.Read(b); err == nil; n, err = c.Read(b) {
						if b[0] != 0xe0 { // a goodbye behind the PUBACK
							_, _ = s.Write(b[:n])
						}
					}
				}()
				b := make([]byte, 4096)
				for n, err := s.Read(b); err == nil; n, err = s.Read(b) {
					_, _ = c.Write(b[:n])
					if b[0] == 0x40 {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// subscribes starts a client that receives all wills, until the test ends.
func subscribes(t *testing.T, s *mqtttest.Server) {
	t.Helper()
	program, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		hostiletest.Missing(t, "mosquitto_sub", "mosquitto-clients")
	}
	_, port, _ := net.SplitHostPort(s.Address())
	c := exec.Command(program, "-h", "127.0.0.1", "-p", port, "-i", "hears", "-q", "2", "-t", "wills/#")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	w := loadFile(t, s.URL(), `workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("mark", mqtt.publish("TARGET", "wills/mark", qos = 1))])`)
	for until := time.Now().Add(20 * time.Second); s.Gave("wills/mark") == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the subscriber hears nothing")
		}
		run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute})
	}
}

// A server sends one will for each connection that is cut, and none behind a goodbye, unless that asks for it.
func TestWillsOfMQTT(t *testing.T) {
	t.Parallel()
	s := mqtttest.Start(t, "")
	subscribes(t, s)
	cut := "mqtt://" + cuts(t, s.Address())
	const n = 8
	for at, tt := range []struct {
		name, client, will, step string
		cut                      bool
		sent                     uint64 // of each user
	}{
		{"3.1.1", `version = "3.1.1"`, `, qos = 1`, `mqtt.publish(m, "t", "x", qos = 1)`, true, 1},
		{"5", `version = "5"`, `, qos = 2`, `mqtt.publish(m, "t", "x", qos = 1)`, true, 1},
		{"5 with a delay", `version = "5", session_expiry = "60s", client_id = "late-${vu}"`, `, delay = "1s"`, `mqtt.publish(m, "t", "x", qos = 1)`, true, 1},
		{"a goodbye of 3.1.1", `version = "3.1.1"`, ``, `mqtt.publish(m, "t", "x", qos = 1)`, false, 0},
		{"a goodbye of 5", `version = "5"`, ``, `mqtt.publish(m, "t", "x", qos = 1)`, false, 0},
		{"a storm", `version = "5"`, ``, `mqtt.connect(m)`, false, 0},
		{"a storm that asks for its will", `version = "5"`, ``, `mqtt.connect(m, disconnect = "will")`, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, topic := s.URL(), fmt.Sprintf("wills/%d", at)
			if tt.cut {
				url = cut
			}
			w := loadFile(t, url, fmt.Sprintf("m = mqtt.client(\"TARGET\", %s, will = mqtt.will(%q, \"of ${vu}\"%s))\nworkflow(name = \"test\", vus = %d, vu_iterations = 1, duration = \"60s\", steps = [step(\"ask\", %s)])", tt.client, topic+"/${vu}", tt.will, n, tt.step))
			got := run(t, context.Background(), Config{Workflow: w, VUs: n, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
			if got.OK != n {
				t.Fatalf("ok %d: %v", got.OK, got.Errors)
			}
			sent := func() (all []uint64) {
				for vu := range n {
					all = append(all, s.Gave(fmt.Sprintf("%s/%d", topic, vu)))
				}
				return all
			}
			want := slices.Repeat([]uint64{tt.sent}, n)
			for until := time.Now().Add(20 * time.Second); !slices.Equal(sent(), want) && time.Now().Before(until); {
				time.Sleep(20 * time.Millisecond)
			}
			if s.Settled(1); !slices.Equal(sent(), want) {
				t.Errorf("the subscriber gets so many wills of each user: %v, want %d", sent(), tt.sent)
			}
		})
	}
}
