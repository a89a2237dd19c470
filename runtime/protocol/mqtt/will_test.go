package mqtt_test

import (
	"bytes"
	"strings"
	"testing"

	"hyperscale/runtime/protocol/mqtt"
)

// CONNECT carries the will as each version has it, and only version 5 has a delay.
func TestWills(t *testing.T) {
	for version, want := range map[mqtt.Version]string{ //lint:orderfree each is a packet of its own
		mqtt.Version311: "\x10\x16\x00\x04MQTT\x04\x2e\x00\x00\x00\x01c\x00\x03w/1\x00\x02by",
		mqtt.Version5:   "\x10\x1d\x00\x04MQTT\x05\x2e\x00\x00\x00\x00\x01c\x05\x18\x00\x00\x00\x07\x00\x03w/1\x00\x02by",
	} {
		p, err := mqtt.New(mqtt.Config{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		w := &mqtt.Will{Topic: "w/1", Data: "by", QoS: 1, Retain: true, Delay: 7}
		if got := p.Greet("c", nil).Leaves(w).Begin(nil); !bytes.Equal(got, []byte(want)) {
			t.Errorf("version %d: CONNECT is %q, want %q", version, got, want)
		}
	}
	long := strings.Repeat("x", 65535)
	for _, tt := range []struct {
		will mqtt.Will
		why  string
	}{
		{mqtt.Will{Topic: long, Data: long}, ""},
		{mqtt.Will{Topic: long + "x"}, "the topic of the will is longer than 65535 bytes"},
		{mqtt.Will{Topic: "w", Data: long + "x"}, "the data of the will is longer than 65535 bytes"},
		{mqtt.Will{Topic: "w/#"}, "has a wildcard"},
		{mqtt.Will{}, "is empty"},
	} {
		got := ""
		if err := tt.will.Check(); err != nil {
			got = err.Error()
		}
		if (got == "") != (tt.why == "") || !strings.Contains(got, tt.why) {
			t.Errorf("a will of %d and %d bytes: got %q, want %q", len(tt.will.Topic), len(tt.will.Data), got, tt.why)
		}
	}
}

// A goodbye that asks for the will says so.
func TestBequests(t *testing.T) {
	c := begun(t, mqtt.Config{Version: mqtt.Version5})
	if err := c.Bequeath(); err != nil || !bytes.Equal(c.Output(), []byte{0xe0, 1, 4}) {
		t.Errorf("got %x, %v", c.Output(), err)
	}
}
