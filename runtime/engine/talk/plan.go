package talk

import (
	"crypto/tls"
	"fmt"
	"strings"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island/ssh"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/mongodb"
	"hyperscale/runtime/protocol/mqtt"
	"hyperscale/runtime/protocol/mysql"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/scram"
	"hyperscale/runtime/protocol/websocket"
)

// Plan is what the exchanges of a step send, made before the clock.
type Plan struct {
	verb   verb
	Host   pool.TalkHost // where they go
	Shown  http1.Call    // the same, as its URL is written; with its text if it is a request that upgrades
	stays  bool          // connections outlive an exchange
	coded  bool          // answers have codes
	routed routed        // the verb, if a Kafka cluster tells where it goes

	Greeting Greeting // of a session that it opens in place of an exchange; nil: it opens none
}

// verb is what the exchanges of one step do in their protocol. One serves any number at once.
type verb interface {
	open() codec.Opening
	say(x *Exchange, d codec.Dialogue) error
	hear(x *Exchange, kind codec.MessageKind, payload []byte) (enough bool)
	deaf() bool
	status() uint16
	protocol() string
	left(code uint16, reason string) error
}

// personal is a verb whose connections tell users apart, or what an exchange does there.
type personal interface {
	openFor(x *Exchange) codec.Opening
}

// keeper is a verb that keeps something of an exchange until it ends.
type keeper interface {
	parts(x *Exchange)
}

// Memory is what the connections of one loop share. The zero value is empty.
type Memory struct {
	messages  websocket.Pool
	answers   redis.Pool
	protocols map[string]*redis.Protocol // by key of a target
	clusters  map[string]*Cluster        // the same
	rows      postgres.Pool
	keys      scram.Cache
	databases map[string]*database // by key of a target
	results   mysql.Pool
	mysqls    map[string]*mysqlDatabase // by key of a target
	brokers   map[string]*broker        // by key of a target
	records   kafka.Pool
	kafkas    map[string]*kafkaCluster // by key of a target
	posts     map[string]*postOffice   // by key of a target
	claims    map[string]*mqtt.Claim   // by server and client identifier
	servers   map[string]*queueServer  // the same of AMQP
	hosts     map[string]*ssh.Protocol // the same of SSH
	files     map[string]*fileServer   // by key of a target
	mails     mails
	documents mongodb.Pool
	mongos    map[string]*mongoServer // by key of a target
}

// securing returns the TLS options of a target's connections; nil: they have none.
func securing(s *request.SQLSecure, common *request.TLS) (c *tls.Config, resume bool, err error) {
	if s.Mode == request.SQLPlain {
		return nil, false, nil
	}
	own := common
	if s.TLS != nil {
		own = s.TLS
	}
	if c, err = pool.TLSConfig(own, s.Mode == request.SQLEncrypted); err == nil && s.Mode == request.SQLAuthority {
		pool.AnyName(c)
	}
	return c, own.Resume, err
}

// argument cuts a word of a command where placeholders stand in it.
func argument(word string, all []request.Placeholder) (a redis.Argument) {
	for {
		first, at := (*request.Placeholder)(nil), len(word)
		for i := range all {
			if k := strings.Index(word[:at], all[i].Word); k >= 0 {
				first, at = &all[i], k
			}
		}
		if first == nil {
			break
		}
		if at > 0 {
			a = append(a, redis.Part{Text: word[:at], Value: -1})
		}
		a, word = append(a, redis.Part{Value: first.Var}), word[at+len(first.Word):]
	}
	if word != "" || a == nil {
		a = append(a, redis.Part{Text: word, Value: -1})
	}
	return a
}

// trunk makes users share connections, each of which carries several exchanges at once, if their client says so.
func (p *Plan) trunk(to *request.Target) {
	if to.Connections > 0 {
		if p.Host.Shared = int(to.Connections); p.stays {
			p.Host.Over = pool.OverTrunk
		}
		p.Host.Key += fmt.Sprint(" of ", to.Connections)
	}
}
