package talk

import (
	"crypto/tls"
	"strings"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/redis"
)

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
