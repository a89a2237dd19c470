package workflow_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
)

// sections are the headings of the manual that `hyperscale docs NAME` shows.
func sections() map[string]string {
	return map[string]string{
		"http3": "## HTTP/3", "websocket": "### WebSocket", "graphql": "### GraphQL", "udp": "### UDP", "postgres": "### SQL", "mysql": "#### MySQL and MariaDB",
		"smtp": "### SMTP", "ftp": "### FTP", "sftp": "### SFTP and SCP", "mongodb": "### MongoDB", "redis": "### Redis", "kafka": "### Kafka",
		"amqp": "### RabbitMQ", "mqtt": "### MQTT", "nats": "### NATS",
	}
}

// absences are names below which something is absent.
func absences() []string {
	return []string{"http", "tls", "websocket", "graphql", "udp", "sql", "smtp", "ftp", "sftp", "scp", "mongodb", "redis", "kafka", "amqp", "mqtt", "nats"}
}

// The manual's section of a protocol names what is absent, and nothing that is absent has a word.
func TestTheManualNamesWhatIsAbsent(t *testing.T) {
	data, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, below := range absences() {
		all := language.Absences(below)
		if len(all) == 0 {
			t.Errorf("nothing is absent of %s", below)
		}
		for _, a := range all {
			heading := sections()[a.Docs]
			_, page, ok := strings.Cut(string(data), "\n"+heading+"\n")
			level, _, _ := strings.Cut(heading, " ")
			for n := len(level); n > 1; n-- {
				page, _, _ = strings.Cut(page, "\n"+strings.Repeat("#", n)+" ")
			}
			if !ok || heading == "" || !strings.Contains(strings.Join(strings.Fields(page), " "), a.What) {
				t.Errorf("the section %q of the manual does not name %q", heading, a.What)
			}
			for _, w := range workflow.Words() {
				holder, name := holder(w.Name)
				if first, _, _ := strings.Cut(strings.TrimPrefix(w.Name, "vu."), "."); first != below {
					continue
				}
				if slices.Contains(a.Words, name) && holder != "" {
					t.Errorf("%s is there, and %q counts as absent", w.Name, a.What)
				}
				for _, argument := range w.Arguments {
					if slices.Contains(a.Words, argument) {
						t.Errorf("%s takes %s, and %q counts as absent", w.Name, argument, a.What)
					}
				}
			}
		}
	}
}

// holder splits a word at its last dot.
func holder(word string) (holder, name string) {
	at := strings.LastIndexByte(word, '.')
	return word[:max(at, 0)], word[at+1:]
}

// A remedy for an absent name is for one that is absent.
func TestForeignNamesAreAbsent(t *testing.T) {
	for _, w := range workflow.Words() {
		holder, name := holder(w.Name)
		if remedy := inspect.Attribute(holder, name); remedy != "" && holder != "" {
			t.Errorf("%s is there, and its absence is explained: %s", w.Name, remedy)
		}
	}
}

// What a file says for something absent is answered with its name.
func TestAbsentNamesAreExplained(t *testing.T) {
	for _, tt := range []struct{ what, docs, declares, step string }{
		{"0-RTT", "http3", `c = http.client(version = "3", early_data = True)`, ""},
		{"0-RTT", "http3", `c = tls(early_data = True)`, ""},
		{"migration", "http3", `c = http.client(version = "3", migration = True)`, ""},
		{"datagrams", "http3", `c = http.client(version = "3", datagrams = True)`, ""},
		{"server push", "http3", `c = http.client(version = "2", push = True)`, ""},
		{"WebSocket over HTTP/2", "websocket", "", `websocket.exchange("ws://h/", send = ["x"], version = "2")`},
		{"subscriptions", "graphql", "", `graphql.subscribe("http://h/", "subscription { a }")`},
		{"DTLS", "udp", "", `udp.exchange("dtls://h:1", send = "x")`},
		{"DTLS", "udp", "", `udp.exchange("udp://h:1", send = "x", tls = tls())`},
		{"DTLS", "udp", "", `dtls.exchange("dtls://h:1", send = "x")`},
		{"replication", "postgres", "", `sql.query("postgres://app@h/d?replication=database", "select 1")`},
		{"Kerberos (GSSAPI)", "postgres", "", `sql.query("postgres://app@h/d?sslmode=disable&gssencmode=require", "select 1")`},
		{"Kerberos (GSSAPI)", "postgres", `c = sql.client("postgres://app@h/d", kerberos = True)`, ""},
		{"LISTEN", "postgres", "", `sql.listen("postgres://app@h/d", "c")`},
		{"LISTEN", "postgres", "def f(vu):\n    return vu.sql.listen(\"postgres://app@h/d\", \"c\")", "f"},
		{"compression", "mysql", "", `sql.query("mysql://app@h/d?compress=true", "select 1")`},
		{"compression", "mysql", `c = sql.client("mysql://app@h/d", compression = True)`, ""},
		{"LOCAL INFILE", "mysql", `c = sql.client("mysql://app@h/d", local_infile = True)`, ""},
		{"transactions and sessions", "mongodb", "def f(vu):\n    return vu.mongodb.begin(\"mongodb://h/d\")", "f"},
		{"transactions and sessions", "mongodb", "", `mongodb.transaction("mongodb://h/d")`},
		{"change streams", "mongodb", "", `mongodb.watch("mongodb://h/d", "c")`},
		{"reads of secondaries", "mongodb", "", `mongodb.find("mongodb://h/d?readPreference=secondary", "c", {})`},
		{"reads of secondaries", "mongodb", `c = mongodb.client("mongodb://h/d", read_preference = "secondary")`, ""},
		{"Kerberos (GSSAPI)", "mongodb", `c = mongodb.client("mongodb://h/d", kerberos = True)`, ""},
		{"compression", "mongodb", "", `mongodb.find("mongodb://h/d?compressors=zlib", "c", {})`},
		{"client-side caching", "redis", `c = redis.client("redis://h", client_caching = True)`, ""},
		{"sentinels", "redis", `c = redis.client("redis://h", sentinel = "m")`, ""},
		{"sentinels", "redis", "", `redis.command("redis+sentinel://h", "GET", "k")`},
		{"transactional producers", "kafka", `c = kafka.client("kafka://h", transactional_id = "x")`, ""},
		{"transactional producers", "kafka", "def f(vu):\n    return vu.kafka.begin(\"kafka://h\")", "f"},
		{"read_committed", "kafka", "", `kafka.consume("kafka://h", ["t"], count = 1, isolation = "read_committed")`},
		{"groups of KIP-848", "kafka", "", `kafka.consume("kafka://h", ["t"], count = 1, group = "g", protocol = "consumer")`},
		{"a schema registry", "kafka", `c = kafka.client("kafka://h", schema_registry = "http://h")`, ""},
		{"a schema registry", "kafka", "", `kafka.produce("kafka://h", "t", kafka.avro("v"))`},
		{"Kerberos (GSSAPI)", "kafka", `c = kafka.client("kafka://h", sasl = kafka.gssapi())`, ""},
		{"AMQP 1.0", "amqp", `c = amqp.client("amqp://h", version = "1.0")`, ""},
		{"MQTT over WebSocket", "mqtt", "", `mqtt.publish("ws://h/mqtt", "t", "v")`},
		{"MQTT over WebSocket", "mqtt", `c = mqtt.client("wss://h/mqtt")`, ""},
		{"enhanced authentication (AUTH)", "mqtt", `c = mqtt.client("mqtt://h", version = "5", authentication_method = "x")`, ""},
		{"key-value and object stores", "nats", "", `nats.kv("nats://h", "b")`},
		{"key-value and object stores", "nats", "def f(vu):\n    return vu.nats.object_store(\"nats://h\", \"b\")", "f"},
		{"NATS over WebSocket", "nats", "", `nats.publish("ws://h", "s", "b")`},
		{"delivery reports (DSN)", "smtp", "", `smtp.send("smtp://h", sender = "a@x.test", to = "b@y.test", dsn = "never")`},
		{"signatures (DKIM)", "smtp", `c = smtp.client("smtp://h", dkim = "x")`, ""},
		{"active mode", "ftp", `c = ftp.client("ftp://h", active = True)`, ""},
		{"active mode", "ftp", `c = ftp.client("ftp://h", passive = False)`, ""},
		{"ASCII mode", "ftp", "", `ftp.get(ftp.client("ftp://h"), "x", mode = "ascii")`},
		{"agents", "sftp", `c = sftp.client("sftp://u@h", agent = True, host_keys = "any")`, ""},
		{"jump hosts", "sftp", `c = sftp.client("sftp://u@h", password = "x", jump = "sftp://j", host_keys = "any")`, ""},
		{"certificates", "sftp", `c = sftp.client("sftp://u@h", certificate = "x", host_keys = "any")`, ""},
		{"keys with a passphrase", "sftp", `c = sftp.client("sftp://u@h", key = "x", passphrase = "x", host_keys = "any")`, ""},
	} {
		step := tt.step
		if step == "" {
			step = `http.get("http://h/")`
		}
		text := tt.declares + "\nworkflow(name = \"w\", steps = [step(\"a\", " + step + ")])\n"
		_, found, _ := workflow.Inspect(program("w.star", text))
		if want := tt.what + ": not as yet: hyperscale docs " + tt.docs; !strings.Contains(told(found), want) {
			t.Errorf("%s\nis answered with\n%s\nwant %q", text, told(found), want)
		}
	}
	_, found, _ := workflow.Inspect(program("w.star", "workflow(name = \"w\", steps = [step(\"a\", redis.command(\"sentinel\", \"GET\", \"k\"))])\n"))
	if !strings.Contains(told(found), "has no scheme") {
		t.Errorf("a host of the name of something absent is answered with\n%s", told(found))
	}
}
