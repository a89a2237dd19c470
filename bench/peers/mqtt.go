package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// startMQTT starts mosquitto.
func startMQTT(dir string, cpus []int) (*server, error) {
	path := lookup("mosquitto")
	if path == "" {
		path = lookup("/usr/sbin/mosquitto")
	}
	if path == "" {
		return nil, errors.New("mosquitto is missing: apt-get install mosquitto")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	config := filepath.Join(dir, "mosquitto.conf")
	text := fmt.Sprintf("user root\nlistener %s 127.0.0.1\nallow_anonymous true\nsys_interval 1\nlog_dest none\npersistence false\n", port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(path, "-c", config), Address: address}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) { return mqttMessages(address) }
	for range 200 {
		if _, err = s.count(); err == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("mosquitto does not answer at %s: %w", address, err), s.close())
}

// mqttClient returns a client that neither connects again nor sends again.
func mqttClient(address string) mqtt.Client {
	o := mqtt.NewClientOptions().AddBroker("tcp://" + address).SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false)
	return mqtt.NewClient(o.SetClientID(fmt.Sprintf("peer-%d-%d", os.Getpid(), clients.Add(1))))
}

var clients atomic.Uint64

// mqttMessages waits for a whole interval of the server's counters, and returns how many messages it has
// taken.
func mqttMessages(address string) (uint64, error) {
	c := mqttClient(address)
	if t := c.Connect(); t.Wait() && t.Error() != nil {
		return 0, t.Error()
	}
	defer c.Disconnect(0)
	var taken, updates atomic.Uint64
	done := make(chan struct{})
	t := c.SubscribeMultiple(map[string]byte{"$SYS/broker/publish/messages/received": 0, "$SYS/broker/uptime": 0}, func(_ mqtt.Client, m mqtt.Message) {
		if strings.HasSuffix(m.Topic(), "received") {
			n, _ := strconv.ParseUint(string(m.Payload()), 10, 64)
			taken.Store(n)
		} else if updates.Add(1) == 3 { // what it keeps, one that may have begun before, and a whole one
			close(done)
		}
	})
	if t.Wait() && t.Error() != nil {
		return 0, t.Error()
	}
	select {
	case <-done:
		return taken.Load(), nil
	case <-time.After(10 * time.Second):
		return 0, errors.New("mosquitto does not tell its counters")
	}
}

// mqttLoop publishes by QoS 1 over paho.mqtt.golang, a goroutine for each connection.
func mqttLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	data := strings.Repeat("x", c.Size)
	for range c.Connections {
		all.Go(func() {
			conn := mqttClient(c.Address)
			if t := conn.Connect(); t.Wait() && t.Error() != nil {
				failed.Add(1)
				return
			}
			defer conn.Disconnect(0)
			n := uint64(0)
			for ; n%64 != 0 || time.Now().Before(until); n++ {
				if t := conn.Publish("dev/1/t", 1, false, data); t.Wait() && t.Error() != nil {
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

const (
	mqttConnections = 64
	mqttSize        = 128
)

// mqtt compares publications of QoS 1, on 64 connections.
func (b *bench) mqtt() error {
	s, err := startMQTT(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"put\", mqtt.publish(mqtt.client(\"mqtt://%s\", version = \"3.1.1\"), \"dev/1/t\", \"x\" * %d, qos = 1))", s.Address, mqttSize)
	us, err := b.ours("mqtt", 1, flow{Name: "mqtt", Step: step, VUs: mqttConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "paho", Address: s.Address, Connections: mqttConnections, Size: mqttSize, Duration: b.duration})
	if err != nil {
		return err
	}
	all, err := b.floor([]contender{us, peer}, loopConfig{Name: "epoll-mqtt", Address: s.Address, Connections: mqttConnections, Size: mqttSize})
	if err != nil {
		return err
	}
	rows := b.cost("mqtt", fmt.Sprintf("%d connections, publish by QoS 1", mqttConnections), s, all)
	b.bars("0.3", rows, rival{"paho", 1 / 0.3})
	b.floorTold(rows, "epoll-mqtt", rival{"paho", 1 / 0.3})
	return nil
}

func (b *bench) takesMQTT() time.Duration { return b.turns(3*b.rounds, b.duration) }
