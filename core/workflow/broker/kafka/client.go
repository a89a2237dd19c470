package kafka

import (
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const seedsMost = 16 // brokers of a URL: they only tell of the others

// Mechanisms that send the secret itself: TLS has to hide it.
const (
	plainMechanism  = "PLAIN"
	bearerMechanism = "OAUTHBEARER"
)

// Schemes are those of kafka.client.
func Schemes() request.Schemes {
	return request.Schemes{Plain: "kafka", Secure: "kafkas", Port: 9092}
}

// ClientArguments are those of kafka.client.
func ClientArguments() []string {
	return []string{"url", "sasl", "compression", "tls", "idempotent", "linger", "batch_size"}
}

// proof is the result of kafka.plain, kafka.scram and kafka.oauthbearer.
type proof struct {
	language.Opaque
	mechanism      string
	user, password starlark.Value // texts or secrets; a token has no user
}

// client is the result of kafka.client.
type client struct {
	language.Opaque
	of    request.Kafka
	proof *proof       // nil: none
	key   *secret.Text // of tls; nil: it is in of
}

// fill puts in what proves the user: a function's secrets have values.
func (c *client) fill(to *request.Kafka) (err error) {
	if c.proof != nil {
		if to.User, _, err = request.SentText(c.proof.user); err != nil {
			return err
		}
		if to.Password, _, err = request.SentText(c.proof.password); err != nil {
			return err
		}
	}
	return to.Secure.SentKey(c.key)
}

// compressions are the words of compression.
func compressions() []string { return []string{"none", "gzip", "lz4", "snappy", "zstd"} }

// newClient is kafka.client.
func newClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "kafka.client"
	var in [7]starlark.Value
	if err := language.Bind(fn, ClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c := &client{Opaque: language.Opaque{Kind: fn}}
	var err error
	if c.of, err = readSeeds(fn, in[0]); err != nil {
		return nil, err
	}
	if in[1] != nil {
		p, ok := in[1].(*proof)
		if !ok {
			return nil, language.WrongType(fn, "sasl", "kafka.scram(...), kafka.plain(...) or kafka.oauthbearer(...)", in[1]).Do("write sasl = kafka.scram(\"app\", secret(\"kafka\"))")
		}
		if secrets := map[string]string{plainMechanism: "password", bearerMechanism: "token"}; secrets[p.mechanism] != "" && !c.of.Seeds[0].Secure {
			return nil, language.Faultf("%s has sasl = %s(...), which sends the %s as it is, and its URL is of kafka://", fn, p.Kind, secrets[p.mechanism]).In("sasl").Do("write kafkas://host, or sasl = kafka.scram(...), which sends a proof")
		}
		c.proof, c.of.Mechanism = p, p.mechanism
	}
	if in[2] != nil {
		if c.of.Compression, err = builtin.OneOf(fn, "compression", in[2], compressions()); err != nil {
			return nil, err
		}
	}
	if in[3] != nil && !c.of.Seeds[0].Secure {
		return nil, language.Faultf("%s has tls, and its URL is of kafka://", fn).In("tls").Do("write kafkas://host")
	}
	if c.of.Idempotent, err = builtin.Flag(fn, "idempotent", in[4], false); err != nil {
		return nil, err
	}
	if c.of.Gathers, err = readBatches(fn, in[5], in[6]); err != nil {
		return nil, err
	}
	c.key, err = c.of.Secure.Options(fn, in[3])
	return c, err
}

// The bounds of batches.
const (
	lingerLeast = time.Millisecond
	lingerMost  = time.Minute
	sizeDefault = 16 << 10 // as a Java client has it
)

// readBatches reads how records are gathered.
func readBatches(fn string, linger, size starlark.Value) (b request.KafkaBatches, err error) {
	if linger != nil {
		if b.Linger, err = language.Duration(fn, "linger", linger); err != nil {
			return b, err
		}
		if b.Linger < lingerLeast || b.Linger > lingerMost {
			return b, language.Faultf("%s: linger is %v, and takes %v to %v", fn, b.Linger, lingerLeast, lingerMost).In("linger").Do("write linger = \"5ms\", or take it out: then each record goes at once")
		}
	}
	if size != nil {
		if b.Linger == 0 {
			return b, language.Faultf("%s has batch_size, and no linger: each record goes at once", fn).In("batch_size").Do("write linger = \"5ms\" as well, or take batch_size out")
		}
		if b.Size, err = language.Integer(fn, "batch_size", size, 1, recordMost); err != nil {
			return b, err
		}
	} else if b.Linger > 0 {
		b.Size = sizeDefault
	}
	return b, nil
}

// readSeeds reads a URL with brokers.
func readSeeds(fn string, v starlark.Value) (k request.Kafka, err error) {
	k.Partition, k.Compression = -1, "none"
	text, ok := v.(starlark.String)
	scheme, rest, found := strings.Cut(string(text), "://")
	if !ok || !found {
		_, err := Schemes().Read(fn, v)
		return k, err
	}
	all := strings.Split(rest, ",")
	if len(all) > seedsMost {
		return k, language.Faultf("%s: the URL has %d brokers", fn, len(all)).In("url").Do("name %d at most: they tell of the others", seedsMost)
	}
	for _, one := range all {
		t, err := Schemes().Read(fn, starlark.String(scheme+"://"+one))
		if err != nil {
			return k, err
		}
		k.Seeds = append(k.Seeds, t)
	}
	return k, nil
}

// target reads a URL, or the result of kafka.client.
func target(fn string, v starlark.Value) (request.Kafka, error) {
	if c, ok := v.(*client); ok {
		to := c.of
		return to, c.fill(&to)
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return request.Kafka{}, language.WrongType(fn, "target", "a URL or the result of kafka.client", v).Do("write %s(\"kafka://host\", ...)", fn)
	}
	return readSeeds(fn, v)
}

// hashes are the words of scram's hash.
func hashes() []string { return []string{"sha-256", "sha-512"} }

// prover is kafka.plain or kafka.scram.
func prover(word string) *guard.Func {
	fn := "kafka." + word
	return &guard.Func{Word: word, Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		names := []string{"user", "password", "hash"}
		if word == "plain" {
			names = names[:2]
		}
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 2, args, kwargs, in); err != nil {
			return nil, err
		}
		p := &proof{Opaque: language.Opaque{Kind: fn}, mechanism: plainMechanism, user: in[0], password: in[1]}
		for i, v := range in[:2] {
			if err := checkProof(fn, names[i], v); err != nil {
				return nil, err
			}
		}
		if word == "scram" {
			p.mechanism = "SCRAM-SHA-256"
			if in[2] != nil {
				hash, err := builtin.OneOf(fn, "hash", in[2], hashes())
				if err != nil {
					return nil, err
				}
				p.mechanism = "SCRAM-" + strings.ToUpper(hash)
			}
		}
		return p, nil
	}}
}

// bearer is kafka.oauthbearer.
func bearer(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "kafka.oauthbearer"
	var in [1]starlark.Value
	if err := language.Bind(fn, []string{"token"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	text, ok, err := request.SentText(in[0])
	switch {
	case err != nil:
		return nil, err
	case in[0] == nil:
		return nil, language.Faultf("%s needs a token", fn).In("token").Do("write %s(secret(\"token\"))", fn)
	case !ok:
		return nil, language.WrongType(fn, "token", "a text or a secret", in[0]).Do("write %s(secret(\"token\")), and give it by --secret token=file:PATH", fn)
	case strings.Contains(text, "${"):
		return nil, language.Faultf("%s: token has ${ in it, and a connection serves all iterations of its user", fn).In("token").Do("write it out, or take it from a secret")
	case text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, language.Faultf("%s: token is empty, or has a character that no token has", fn).In("token").Do("write the token alone, without \"Bearer \"")
	}
	return &proof{Opaque: language.Opaque{Kind: fn}, mechanism: bearerMechanism, user: starlark.String(""), password: in[0]}, nil
}

// checkProof checks a text that proves a user.
func checkProof(fn, name string, v starlark.Value) error {
	text, ok, err := request.SentText(v)
	switch {
	case err != nil:
		return err
	case v == nil:
		return language.Faultf("%s needs a user and a password", fn).In(name).Do("write %s(\"app\", secret(\"kafka\"))", fn)
	case !ok:
		return language.WrongType(fn, name, "a text or a secret", v).Do("write %s(\"app\", secret(\"kafka\")), and give it by --secret kafka=file:PATH", fn)
	case text == "" || strings.ContainsRune(text, 0):
		return language.Faultf("%s: %s is empty or has a zero byte", fn, name).In(name).Do("write %s(\"app\", secret(\"kafka\"))", fn)
	case strings.Contains(text, "${"):
		return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
	}
	return nil
}
