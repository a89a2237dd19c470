package kinds_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"strconv"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
)

func init() {
	places["kafka"] = newKafka
}

// log is a broker behind a relay, which tells of itself in place of the broker.
type log struct {
	*outputstest.Relay
	cluster *kafkatest.Cluster
}

func newKafka(t *testing.T) outputstest.Place {
	c := kafkatest.Start(t, "--topics", "hyperscale:3")
	r := outputstest.NewRelay(t, c.Addresses()[0])
	r.Every = 7 // a try has some three pieces
	told, tells := advertised(t, c.Addresses()[0]), advertised(t, r.Address())
	r.Answers = func(b []byte) []byte { return bytes.ReplaceAll(b, told, tells) }
	return &log{r, c}
}

// advertised is how a broker's answer has an address.
func advertised(t *testing.T, address string) []byte {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	b := append(binary.BigEndian.AppendUint16(nil, uint16(len(host))), host...)
	return binary.BigEndian.AppendUint32(b, uint32(port))
}

func (l *log) Name() string              { return "kafka://" + l.Address() }
func (l *log) Key(r *outputs.Row) string { return r.Key() }

// Stored counts each record of the log: a repeated one is there twice.
func (l *log) Stored(job string) (map[string]int, error) {
	all := map[string]int{}
	for _, record := range l.cluster.Read("hyperscale") {
		_, record, _ = strings.Cut(record, "|")
		_, value, _ := strings.Cut(record, "|")
		r, err := outputs.ParseJSON([]byte(value))
		if err != nil {
			return nil, err
		}
		if r.Job == job {
			all[r.Key()]++
		}
	}
	return all, nil
}
