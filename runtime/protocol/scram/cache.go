package scram

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // SCRAM-SHA-1 names it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"slices"
)

// Hash is the function that a mechanism is named by.
type Hash uint8

// The functions.
const (
	SHA1 Hash = iota
	SHA256
	SHA512
)

// Mechanism is the name that servers offer it by.
func (h Hash) Mechanism() string {
	return [...]string{"SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"}[h]
}

func (h Hash) new() hash.Hash {
	switch h {
	case SHA1:
		return sha1.New()
	case SHA256:
		return sha256.New()
	}
	return sha512.New()
}

// slice is how many iterations take about half a millisecond.
func (h Hash) slice() int {
	if h == SHA512 {
		return 512
	}
	return 2048
}

const cachedMost = 64

// Cache has the salted passwords of one goroutine. The zero value is empty.
type Cache struct {
	salted []*salted // the one that was used last is the last one
}

// salted is a password salted: PBKDF2, or a part of it.
type salted struct {
	of   recipe
	mac  hash.Hash // nil: it is whole
	u    []byte    // of the iteration that was last
	sum  []byte
	done int
}

// recipe is what a salted password is made of.
type recipe struct {
	hash           Hash
	password, salt string
	count          int
}

// get returns a salted password, perhaps a part of it.
func (c *Cache) get(of recipe) *salted {
	at := slices.IndexFunc(c.salted, func(s *salted) bool { return s.of == of })
	var s *salted
	switch {
	case at >= 0:
		s = c.salted[at]
		c.salted = slices.Delete(c.salted, at, at+1)
	default:
		s = &salted{of: of, mac: hmac.New(of.hash.new, []byte(of.password))}
		if len(c.salted) == cachedMost {
			c.salted = slices.Delete(c.salted, 0, 1)
		}
	}
	c.salted = append(c.salted, s)
	return s
}

// work goes on by a slice, and reports whether the password is salted.
func (s *salted) work() bool {
	for n := s.of.hash.slice(); s.mac != nil && n > 0; n-- {
		s.mac.Reset()
		if s.done == 0 {
			s.mac.Write([]byte(s.of.salt + "\x00\x00\x00\x01"))
			s.u = s.mac.Sum(nil)
			s.sum = slices.Clone(s.u)
		} else {
			s.mac.Write(s.u)
			s.u = s.mac.Sum(s.u[:0])
			subtle.XORBytes(s.sum, s.sum, s.u)
		}
		if s.done++; s.done == s.of.count {
			s.mac, s.u = nil, nil
		}
	}
	return s.mac == nil
}
