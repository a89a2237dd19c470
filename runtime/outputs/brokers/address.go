package brokers

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/kafka"
)

const kafkaExample = "kafkas://load@kafka-1.internal:9093,kafka-2.internal:9093,topic=load,password_file=/run/secrets/kafka"

// cluster is where brokers are.
type cluster struct {
	brokers   []string // addresses to begin with
	user      string
	secure    bool
	roots     *tls.Config // of a broker, but for its name
	mechanism kafka.Mechanism
	password  outputs.Secret
}

// mechanisms are how users prove themselves.
var mechanisms = map[string]kafka.Mechanism{"PLAIN": kafka.PLAIN, "SCRAM-SHA-256": kafka.SCRAMSHA256, "SCRAM-SHA-512": kafka.SCRAMSHA512}

// clusterOf reads kafka://[USER@]HOST[:PORT][,HOST[:PORT]...], or kafkas.
func clusterOf(s *outputs.Settings) (*cluster, error) {
	wrong := errors.New("this is no address: write " + kafkaExample)
	scheme, rest, _ := strings.Cut(s.Place, "://")
	c := &cluster{secure: scheme == "kafkas", password: s.Secret("password")}
	if !c.secure && scheme != "kafka" {
		return nil, wrong
	}
	if user, hosts, has := strings.Cut(rest, "@"); has {
		if strings.Contains(user, ":") {
			return nil, errors.New("an address with a password would be in the list of processes and in the shell's history: leave it out, and use password_file=FILE or password_env=VARIABLE")
		}
		c.user, rest = user, hosts
	}
	for _, one := range strings.Split(rest, ",") {
		host, port, err := net.SplitHostPort(one)
		if err != nil {
			host, port = strings.Trim(one, "[]"), "9092"
		}
		if host == "" || port == "" || strings.ContainsAny(host, "/?#@ ") || strings.Contains(host, ":") != strings.HasPrefix(one, "[") {
			return nil, wrong
		}
		c.brokers = append(c.brokers, net.JoinHostPort(host, port))
	}
	if (c.user != "") != c.password.Given() {
		return nil, errors.New("a user and a password belong together: write kafkas://USER@HOST, and add password_file=FILE or password_env=VARIABLE")
	}
	if c.user != "" {
		c.mechanism = mechanisms[s.Text("mechanism")]
	}
	if c.mechanism == kafka.PLAIN && !c.secure {
		return nil, errors.New("mechanism=PLAIN would send the password in clear: write kafkas://, or use SCRAM")
	}
	return c, c.trust(s.Text("ca"))
}

func (c *cluster) trust(ca string) (err error) {
	c.roots = &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case ca == "":
		return nil
	case !c.secure:
		return errors.New("ca is of no use in clear: write kafkas://")
	}
	if c.roots.RootCAs, err = wire.Roots(ca); err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	return nil
}
