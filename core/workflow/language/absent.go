package language

import (
	"fmt"
	"slices"
	"strings"
)

// Absence is something that a protocol has and the language has not as yet.
type Absence struct {
	What  string   // as the manual's section names it
	Docs  string   // whose section: hyperscale docs NAME
	Words []string // what a file may say for it: arguments, members, options and schemes of a URL
}

// Absences lists them for the functions below a name, such as kafka. A test compares them with the manual.
func Absences(below string) []Absence {
	switch below {
	case "http", "tls":
		return []Absence{
			{"0-RTT", "http3", []string{"early_data", "zero_rtt"}},
			{"migration", "http3", []string{"migration"}},
			{"datagrams", "http3", []string{"datagrams"}},
			{"server push", "http3", []string{"push"}},
		}
	case "websocket":
		return []Absence{{"WebSocket over HTTP/2", "websocket", []string{"version"}}}
	case "graphql":
		return []Absence{{"subscriptions", "graphql", []string{"subscribe", "subscription"}}}
	case "udp":
		return []Absence{{"DTLS", "udp", []string{"tls", "dtls", "udps"}}}
	case "sql":
		return []Absence{
			{"replication", "postgres", []string{"replication"}},
			{"Kerberos (GSSAPI)", "postgres", []string{"kerberos", "gssapi", "gssencmode", "krbsrvname"}},
			{"`LISTEN`", "postgres", []string{"listen", "notify"}},
			{"compression", "mysql", []string{"compression", "compress"}},
			{"`LOCAL INFILE`", "mysql", []string{"local_infile", "allowLocalInfile"}},
		}
	case "smtp":
		return []Absence{
			{"delivery reports (DSN)", "smtp", []string{"dsn", "notify", "ret", "envid"}},
			{"signatures (DKIM)", "smtp", []string{"dkim"}},
		}
	case "ftp":
		return []Absence{
			{"active mode", "ftp", []string{"active", "passive"}},
			{"ASCII mode", "ftp", []string{"ascii", "binary", "mode"}},
		}
	case "sftp", "scp":
		return []Absence{
			{"agents", "sftp", []string{"agent"}},
			{"jump hosts", "sftp", []string{"jump", "proxy_jump", "bastion"}},
			{"certificates", "sftp", []string{"certificate"}},
			{"keys with a passphrase", "sftp", []string{"passphrase"}},
		}
	}
	return stored(below)
}

// stored lists those of databases and brokers.
func stored(below string) []Absence {
	switch below {
	case "mongodb":
		return []Absence{
			{"transactions and sessions", "mongodb", []string{"begin", "transaction", "start_session", "session"}},
			{"change streams", "mongodb", []string{"watch"}},
			{"reads of secondaries", "mongodb", []string{"read_preference", "readPreference"}},
			{"Kerberos (GSSAPI)", "mongodb", []string{"kerberos", "gssapi", "authMechanismProperties"}},
			{"compression", "mongodb", []string{"compression", "compressors"}},
		}
	case "redis":
		return []Absence{
			{"client-side caching", "redis", []string{"client_caching", "caching", "tracking"}},
			{"sentinels", "redis", []string{"sentinel", "sentinels", "master_name", "redis+sentinel"}},
		}
	case "kafka":
		return []Absence{
			{"transactional producers", "kafka", []string{"transactional_id", "transaction", "begin"}},
			{"`read_committed`", "kafka", []string{"isolation", "isolation_level"}},
			{"groups of KIP-848", "kafka", []string{"protocol", "group_protocol"}},
			{"a schema registry", "kafka", []string{"schema_registry", "avro", "protobuf"}},
			{"Kerberos (GSSAPI)", "kafka", []string{"gssapi", "kerberos"}},
		}
	case "amqp":
		return []Absence{{"AMQP 1.0", "amqp", []string{"version"}}}
	case "mqtt":
		return []Absence{
			{"MQTT over WebSocket", "mqtt", []string{"ws", "wss"}},
			{"enhanced authentication (AUTH)", "mqtt", []string{"authentication_method", "authentication_data"}},
		}
	case "nats":
		return []Absence{
			{"key-value and object stores", "nats", []string{"kv", "key_value", "object_store"}},
			{"NATS over WebSocket", "nats", []string{"ws", "wss"}},
		}
	}
	return nil
}

// Absent explains a word that a function, or what is below a name, does not have; empty: it is not known.
func Absent(at, word string) string {
	below, _, _ := strings.Cut(strings.TrimPrefix(at, "vu."), ".")
	for _, a := range Absences(below) {
		if slices.Contains(a.Words, word) {
			return fmt.Sprintf("%s: not as yet: hyperscale docs %s says what there is", strings.ReplaceAll(a.What, "`", ""), a.Docs)
		}
	}
	return ""
}
