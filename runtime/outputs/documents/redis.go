package documents

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

const redisExample = "rediss://load@redis.internal,password_file=/run/secrets/redis,expire=720h"

// Redis is the kind `redis`: a hash for each row, and a set that names the rows of a job.
func Redis() outputs.Kind {
	return outputs.Kind{
		Name: "redis", Engine: "documents", About: "Redis: a hash for each row, during the run and at its end", Place: "URL", Example: redisExample,
		Options: []outputs.Option{
			{Name: "password", Type: outputs.OptionSecret, Help: "of the user of the address, or of the default user"},
			{Name: "ca", Type: outputs.OptionText, Help: "file of an authority of your own, in PEM, for rediss"},
			{Name: "prefix", Type: outputs.OptionText, Default: "hyperscale", Help: "keys begin with it; without braces"},
			{Name: "expire", Type: outputs.OptionSpan, Default: "720h", Min: int64(time.Minute), Max: int64(10 * 365 * 24 * time.Hour), Help: "rows go away so long after they came"},
		},
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 200},
		Tested: "Redis 7.0, through a relay that refuses, hangs, cuts and loses answers; no cluster",
		Schema: redisSchema,
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := redisOf(s)
			if err != nil {
				return nil, err
			}
			return &redisSink{redisServer: *at}, nil
		},
		ReadBack: readRedis,
	}
}

const redisSchema = `PREFIX:{JOB}       set: the names of the job's rows
PREFIX:{JOB}:NAME  hash: version, row (the whole row, as jsonl has it), and each field of the row that has one value
NAME is KIND/DATACENTER/WORKFLOW/STEP/STEP_KIND/FROM_MS/TO_MS, each part escaped as in a path of a URL; without times for run,
result and check, with the expression for threshold and the sequence for event instead.
`

// keeps is the script that keeps a row unless a greater version is there. It compares 64 hexadecimal digits in groups of 8, as
// numbers, since the order of texts depends on the locale of the server. A full server rejects the first command that adds, and
// lets a script go on that has written before: so SADD comes first.
// KEYS: the row's hash, the job's set. ARGV: the row's name, seconds until both expire, version, then fields and values.
const keeps = `local old = redis.call('HGET', KEYS[1], 'version')
if old then
  for i = 1, 64, 8 do
    local a, b = tonumber(string.sub(old, i, i + 7), 16) or 0, tonumber(string.sub(ARGV[3], i, i + 7), 16) or 0
    if a > b then return 0 end
    if a < b then break end
  end
end
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'version', ARGV[3])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return 1`

// redisServer is where a Redis is.
type redisServer struct {
	address, user, prefix string
	database              int
	tls                   *tls.Config // nil: in clear
	password              outputs.Secret
	expire                time.Duration
}

// redisOf reads redis://[USER@]HOST[:PORT][/DATABASE], or rediss.
func redisOf(s *outputs.Settings) (*redisServer, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || u.RawQuery != "" {
		return nil, errors.New("this is no address: write " + redisExample)
	}
	at := &redisServer{
		address: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379")), user: u.User.Username(), prefix: s.Text("prefix"), password: s.Secret("password"), expire: s.Span("expire"),
	}
	if name := strings.Trim(u.Path, "/"); name != "" {
		if at.database, err = strconv.Atoi(name); err != nil || at.database < 0 {
			return nil, fmt.Errorf("database %q: write its number, as in redis://redis.internal/1", name)
		}
	}
	if strings.ContainsAny(at.prefix, "{}") || at.prefix == "" {
		return nil, fmt.Errorf("prefix = %q: write some letters without braces, which part the job's id from it", at.prefix)
	}
	if at.user != "" && !at.password.Given() {
		return nil, errors.New("a user without a password: add password_file=FILE or password_env=VARIABLE")
	}
	if ca := s.Text("ca"); u.Scheme == "rediss" {
		at.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
		if ca != "" {
			if at.tls.RootCAs, err = wire.Roots(ca); err != nil {
				return nil, fmt.Errorf("ca: %w", err)
			}
		}
	} else if ca != "" {
		return nil, errors.New("ca is of no use in clear: write rediss://")
	}
	return at, nil
}

// answerMax bounds the answers of one operation, in bytes.
const answerMax = 64 << 20

// open connects, and proves the user. The password is read anew each time.
func (s *redisServer) open(ctx context.Context) (*wire.Conn, error) {
	config := redis.Config{User: s.user, Database: s.database, AnswerMax: answerMax}
	if s.password.Given() {
		password, err := s.password.Read()
		if err != nil {
			return nil, &http1.Error{Kind: http1.KindAuth, Detail: err.Error()}
		}
		config.Password = password
	}
	p := redis.New(config)
	if !p.Greets() {
		return wire.Connect(ctx, s.address, s.tls, codec.Opening{Dialogue: p.Begin()})
	}
	return wire.Connect(ctx, s.address, s.tls, codec.Opening{Greeting: p.Greet()})
}

// askRedis sends commands as one operation. The error of the server is answer.
func askRedis(ctx context.Context, c *wire.Conn, commands []redis.Command) (body []byte, sent bool, answer, err error) {
	talk := c.Talk.(*redis.Conn)
	sent, err = c.Ask(ctx, func() error { return talk.Operate(redis.Pipeline(commands), redis.Order{Keeps: true}) }, func(payload []byte) {
		body, answer = bytes.Clone(payload), talk.Outcome().Err
	})
	return body, sent, answer, err
}

func words(all ...string) (c redis.Command) {
	for _, w := range all {
		c = append(c, redis.Text(w))
	}
	return c
}

// set is the key of the set that names a job's rows. Its braces keep a job's keys on one node.
func (s *redisServer) set(job string) string { return s.prefix + ":{" + job + "}" }

// command keeps a row.
func (s *redisServer) command(r *outputs.Row) (redis.Command, error) {
	object := outputs.AppendJSON(nil, r)
	fields, err := flat(object)
	if err != nil {
		return nil, err
	}
	set, name, version := s.set(r.Job), Name(r), fmt.Sprintf("%x", r.Version)
	c := words("EVAL", keeps, "2", set+":"+name, set, name, strconv.FormatInt(int64(s.expire/time.Second), 10), version, "row", string(object))
	for _, f := range fields {
		if f.name != "version" {
			c = append(c, words(f.name, f.value)...)
		}
	}
	return c, nil
}

// redisSink keeps rows in a Redis.
type redisSink struct {
	redisServer
	conn *wire.Conn // nil: there is none
}

// Check connects, and keeps a row of a job that is none, for a minute.
func (s *redisSink) Check(ctx context.Context) error {
	probe := s.redisServer
	probe.expire = time.Minute
	c, err := probe.command(&outputs.Row{Kind: outputs.RowEvent, Job: "check"})
	if err != nil {
		return err
	}
	if out := s.send(ctx, []redis.Command{c}, outputs.Batch{Rows: make([]outputs.Row, 1)}); out.Verdict != outputs.VerdictDelivered {
		return errors.New(out.Why)
	}
	return nil
}

func (s *redisSink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	var all []redis.Command
	for i := range b.Rows {
		c, err := s.command(&b.Rows[i])
		if err != nil {
			return alone(b, err.Error())
		}
		all = append(all, c)
	}
	return s.send(ctx, all, b)
}

func (s *redisSink) send(ctx context.Context, all []redis.Command, b outputs.Batch) outputs.Outcome {
	if s.conn == nil {
		c, err := s.open(ctx)
		if http1.KindOf(err) == http1.KindAuth {
			return outputs.Denied(err.Error())
		} else if err != nil {
			return outputs.Again(0, err.Error())
		}
		s.conn = c
	}
	_, sent, answer, err := askRedis(ctx, s.conn, all)
	if err != nil {
		s.Close()
		if sent {
			return outputs.Unclear(err.Error())
		}
		return outputs.Again(0, err.Error())
	}
	out := judgeRedis(answer, b)
	if out.Verdict == outputs.VerdictAgain || out.Verdict == outputs.VerdictDenied {
		s.Close() // the server may not be the master any more, and the password another one
	}
	return out
}

// judgeRedis says what an answer means. Rows of the batch that are there change nothing when they come again.
func judgeRedis(answer error, b outputs.Batch) outputs.Outcome {
	if answer == nil {
		return outputs.Delivered()
	}
	code, _ := strings.CutPrefix(string(http1.KindOf(answer)), "server ")
	why := strings.ReplaceAll(answer.Error(), redis.ClusterRemedy, "the server is a node of a cluster, which this output does not follow: name a server that is none")
	switch {
	case code == "NOAUTH" || code == "NOPERM" || code == "WRONGPASS" || strings.Contains(why, "The user executing the script can't"):
		return outputs.Denied(why + ": give the user EVAL, HGET, HSET, DEL, EXPIRE and SADD on keys with the prefix")
	case code == "MOVED" || code == "ASK" || code == "CROSSSLOT":
		return outputs.Rejected(nil, why)
	case strings.Contains(why, "WRONGTYPE"): // before Redis 7 the code is ERR
		return alone(b, why+": another program has the key: give another prefix")
	}
	return outputs.Again(0, why)
}

// alone looks for the row that a server does not take: a batch with one is halved until that row stands alone.
func alone(b outputs.Batch, why string) outputs.Outcome {
	if len(b.Rows) > 1 {
		return outputs.Smaller(why)
	}
	return outputs.Rejected(nil, why)
}

// Close closes the connection.
func (s *redisSink) Close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
