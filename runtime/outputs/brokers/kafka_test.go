package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/documents"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
	"hyperscale/runtime/protocol/http1"
)

// opened is a sink of a place that has passed its check.
func opened(t *testing.T, place string) outputs.Sink {
	t.Helper()
	sink, err := open(place)
	if err == nil {
		t.Cleanup(sink.Close)
		err = sink.Check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return sink
}

func open(place string) (outputs.Sink, error) {
	k := Kafka()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		return nil, err
	}
	return k.Open(s)
}

func try(t *testing.T, sink outputs.Sink, b outputs.Batch) outputs.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return sink.Deliver(ctx, b)
}

// record is that of a row, as librdkafka reads it.
func record(r *outputs.Row) string {
	return fmt.Sprintf("%s/%s|kind=%s,version=%x|%s", r.Job, documents.Name(r), r.Kind, r.Version, outputs.AppendJSON(nil, r))
}

// Codes of Kafka.
const (
	tooLarge            = 10
	notLeader           = 6
	fewerAfterAppend    = 20
	topicNotAuthorized  = 29
	notEnoughReplicas   = 19
	outOfOrderSequences = 45
)

func TestKafka(t *testing.T) {
	c := kafkatest.Start(t, "--brokers", "3", "--topics", "load:5,once:1,hyperscale:2")
	rows := outputstest.Rows("a")
	for _, coding := range Kafka().Options[1].Choices {
		sink := opened(t, c.URL()+",topic=load,compression="+coding)
		if out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%s: %+v", coding, out)
		}
	}
	want := map[string]int{}
	for i := range rows {
		want[record(&rows[i])] = len(Kafka().Options[1].Choices)
	}
	got := map[string]int{}
	for _, r := range c.Read("load") {
		if got[r]++; want[r] == 0 {
			t.Errorf("%q is there", r)
		}
	}
	for r, n := range want {
		if got[r] != n {
			t.Errorf("%q is there %d times, want %d", r, got[r], n)
		}
	}
	if parts := c.Partitions("load"); slices.Contains(parts, 0) {
		t.Errorf("partitions have %v", parts)
	}
	t.Run("a leader that moves", func(t *testing.T) {
		sink := opened(t, c.URL()+",topic=once")
		for broker := range 3 {
			c.Move("once", 0, broker)
			b := outputs.Batch{Number: uint64(broker + 1), Try: 1, Rows: rows[:1]}
			out := try(t, sink, b)
			for ; out.Verdict == outputs.VerdictAgain && b.Try < 10; b.Try++ {
				out = try(t, sink, b)
			}
			if out.Verdict != outputs.VerdictDelivered || c.End("once") != uint64(broker+1) {
				t.Errorf("%+v, %d records", out, c.End("once"))
			}
		}
	})
}

// What a broker answers becomes a verdict, and a repeated try sends only what is not acknowledged.
func TestKafkaFaults(t *testing.T) {
	for _, f := range []struct {
		code int
		want outputs.Verdict
	}{{notLeader, outputs.VerdictAgain}, {fewerAfterAppend, outputs.VerdictUnclear}, {topicNotAuthorized, outputs.VerdictDenied}, {notEnoughReplicas, outputs.VerdictAgain}, {outOfOrderSequences, outputs.VerdictAgain}} {
		t.Run(fmt.Sprint(f.code), func(t *testing.T) {
			c := kafkatest.Start(t, "--topics", "hyperscale:3")
			sink := opened(t, c.URL())
			rows := outputstest.Rows("a")
			if out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
				t.Fatalf("%+v", out)
			}
			c.Fault(kafkatest.Produce, f.code, 1)
			if out := try(t, sink, outputs.Batch{Number: 2, Try: 1, Rows: rows}); out.Verdict != f.want {
				t.Errorf("%+v, want %v", out, f.want)
			}
			if out := try(t, sink, outputs.Batch{Number: 2, Try: 2, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
				t.Errorf("%+v", out)
			}
			n, once := c.End("hyperscale"), uint64(2*len(rows))
			if twice := f.want == outputs.VerdictUnclear; n < once || twice != (n > once) { // the broker has those of one partition
				t.Errorf("%d records, want %d", n, once)
			}
		})
	}
	t.Run("a broker that ends", func(t *testing.T) {
		c := kafkatest.Start(t, "--brokers", "2", "--topics", "hyperscale:2")
		c.Move("hyperscale", 0, 0)
		c.Move("hyperscale", 1, 1)
		sink := opened(t, c.URL())
		rows := outputstest.Rows("a")
		if out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
		c.Stop(1)
		out := try(t, sink, outputs.Batch{Number: 2, Try: 1, Rows: rows})
		if out.Verdict != outputs.VerdictAgain && out.Verdict != outputs.VerdictUnclear {
			t.Errorf("%+v", out)
		}
		b := outputs.Batch{Number: 2, Try: 2, Rows: rows}
		for ; out.Verdict != outputs.VerdictDelivered && b.Try < 20; b.Try++ {
			out = try(t, sink, b)
		}
		if n := c.End("hyperscale"); out.Verdict != outputs.VerdictDelivered || n != uint64(2*len(rows)) {
			t.Errorf("%+v, %d records, want %d", out, n, 2*len(rows))
		}
	})
	t.Run("batches that are too large", func(t *testing.T) {
		c := kafkatest.Start(t, "--topics", "hyperscale:1")
		sink := opened(t, c.URL())
		rows := outputstest.Rows("a")[:8]
		c.Fault(kafkatest.Produce, tooLarge, 4) // 8, 4, 2, 1: the first row alone is too large
		out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: rows})
		if out.Verdict != outputs.VerdictRejected || !slices.Equal(out.Rows, []int{0}) || !strings.Contains(out.Why, "max.message.bytes") {
			t.Errorf("%+v", out)
		}
		if n := c.End("hyperscale"); n != uint64(len(rows)-1) {
			t.Errorf("%d records, want %d", n, len(rows)-1)
		}
	})
}

func TestKafkaVerdicts(t *testing.T) {
	for name, want := range map[string]outputs.Verdict{
		"SASL_AUTHENTICATION_FAILED": outputs.VerdictDenied, "TOPIC_AUTHORIZATION_FAILED": outputs.VerdictDenied, "REQUEST_TIMED_OUT": outputs.VerdictUnclear,
		"NOT_ENOUGH_REPLICAS": outputs.VerdictAgain, "MESSAGE_TOO_LARGE": outputs.VerdictRejected, "UNKNOWN_SERVER_ERROR": outputs.VerdictAgain,
	} {
		if f := judgeKafka(&http1.Error{Kind: http1.Kind("server " + name), Detail: name}); f.verdict != want {
			t.Errorf("%s: %+v, want %v", name, f, want)
		}
	}
	if f := judgeKafka(&http1.Error{Kind: http1.KindAuth, Detail: "refused"}); f.verdict != outputs.VerdictDenied {
		t.Errorf("%+v", f)
	}
}

func TestKafkaPlaces(t *testing.T) {
	const wrong = "not-this-one-1f3a"
	t.Setenv("KAFKA_RIGHT", "geheim")
	t.Setenv("KAFKA_WRONG", wrong)
	c := kafkatest.Start(t, "--users", "SCRAM-SHA-512:load:geheim,PLAIN:load:geheim", "--cert", "CERT", "--key", "KEY", "--topics", "hyperscale:1")
	root := filepath.Join(t.TempDir(), "root.pem")
	_, _, authorities := authority.Files()
	if err := os.WriteFile(root, authorities, 0o600); err != nil {
		t.Fatal(err)
	}
	at := strings.Replace(c.SecureURL(), "://", "://load@", 1)
	for _, mechanism := range []string{"SCRAM-SHA-512", "PLAIN"} {
		sink := opened(t, at+",password_env=KAFKA_RIGHT,ca="+root+",mechanism="+mechanism)
		if out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("a")}); out.Verdict != outputs.VerdictDelivered {
			t.Errorf("%s: %+v", mechanism, out)
		}
	}
	sink, err := open(at + ",password_env=KAFKA_WRONG,ca=" + root)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	out := try(t, sink, outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("a")})
	if out.Verdict != outputs.VerdictAgain || strings.Contains(out.Why, wrong) { // kfake hangs up, and does not say why
		t.Errorf("a wrong password: %+v", out)
	}
	if n := c.End("hyperscale"); n != 2*uint64(len(outputstest.Rows("a"))) {
		t.Errorf("%d records", n)
	}
	for place, want := range map[string]string{
		at + ",password_env=KAFKA_RIGHT":                                  "certificate",
		at + ",password_env=KAFKA_RIGHT,topic=none,ca=" + root:            "this output makes none",
		"kafka://127.0.0.1:1":                                             "start it, or correct the address",
		"kafka://load@127.0.0.1":                                          "belong together",
		"kafka://load@127.0.0.1,password_env=KAFKA_RIGHT,mechanism=PLAIN": "in clear",
		"kafka://127.0.0.1,ca=" + root:                                    "write kafkas://",
		"kafka://load:" + wrong + "@127.0.0.1:1,b:2":                      "password_file=FILE",
		"kafka://":                    "this is no address",
		"kafka://a:1,":                "this is no address",
		"kafka://a/topic":             "this is no address",
		"127.0.0.1:9092":              "this is no address",
		"kafka://127.0.0.1,topic=a b": "name one that exists",
	} {
		sink, err := open(place)
		if err == nil {
			err = errors.Join(sink.Check(t.Context()))
			sink.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
	if _, err := open("kafkas://a,b:9093,[::1]:9094"); err != nil {
		t.Error(err)
	}
}
