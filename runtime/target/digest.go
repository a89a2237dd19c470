package target

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strconv"
	"strings"
)

// Who may read /digest.
const (
	digestRealm    = "hyperscale"
	digestUser     = "user"
	digestPassword = "pass"
)

const (
	noncesMax = 1 << 16 // that are known at once; an older one is stale
	nonceUses = 100     // requests that a nonce serves before it is stale
)

// nonces are the nonces of digest authentication: by serial number, the highest count that a
// request had. They know the last noncesMax.
type nonces struct {
	made   uint64
	counts []uint32
}

// begin makes a nonce.
func (k *nonces) begin() string {
	if k.counts == nil {
		k.counts = make([]uint32, noncesMax)
	}
	serial := k.made
	k.made++
	k.counts[serial%noncesMax] = 0
	return nonceText(serial)
}

// nonceText makes recognizable nonces; they are not secret.
func nonceText(serial uint64) string {
	text := strconv.FormatUint(serial, 16)
	return text + "." + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte("nonce "+text))), 16)
}

// take uses a nonce count, which must be higher than each one before it.
func (k *nonces) take(nonce string, count uint32) (good, stale bool) {
	text, _, _ := strings.Cut(nonce, ".")
	serial, err := strconv.ParseUint(text, 16, 64)
	switch {
	case err != nil || nonceText(serial) != nonce || serial >= k.made:
		return false, false
	case k.made-serial > noncesMax:
		return false, true
	case count <= k.counts[serial%noncesMax]:
		return false, false
	case count > nonceUses:
		return false, true
	}
	k.counts[serial%noncesMax] = count
	return true, false
}

// proofState is what became of the credentials of a request for /digest.
type proofState uint8

const (
	proofNone proofState = iota
	proofStale
	proofGood
)

// prove judges the value of Authorization behind its scheme. The proof must be about this
// request: its method and the target of its line.
func (s *site) prove(value, method, target string, old bool) proofState {
	p, ok := proofParams(value)
	hash := digestHash(old)
	count, err := strconv.ParseUint(p["nc"], 16, 32)
	if !ok || err != nil || len(p["nc"]) != 8 || p["uri"] != target || p["username"] != digestUser || p["realm"] != digestRealm || p["qop"] != "auth" || p["cnonce"] == "" {
		return proofNone
	}
	first, second := hash(digestUser+":"+digestRealm+":"+digestPassword), hash(method+":"+target)
	if p["response"] != hash(first+":"+p["nonce"]+":"+p["nc"]+":"+p["cnonce"]+":auth:"+second) {
		return proofNone
	}
	switch good, stale := s.nonces.take(p["nonce"], uint32(count)); {
	case good:
		return proofGood
	case stale:
		return proofStale
	}
	return proofNone
}

func digestHash(old bool) func(string) string {
	if old {
		return func(text string) string {
			sum := md5.Sum([]byte(text))
			return hex.EncodeToString(sum[:])
		}
	}
	return func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
}

// proofParams reads name = value pairs, quoted or not. A backslash in quotes ends them: no text of
// this server has one.
func proofParams(value string) (map[string]string, bool) {
	p := map[string]string{}
	for value = strings.TrimSpace(value); value != ""; {
		name, rest, ok := strings.Cut(value, "=")
		if !ok || len(p) == 16 {
			return nil, false
		}
		text := ""
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			if text, rest, ok = strings.Cut(quoted, `"`); !ok {
				return nil, false
			}
			_, value, _ = strings.Cut(rest, ",")
		} else {
			text, value, _ = strings.Cut(rest, ",")
		}
		p[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(text)
		value = strings.TrimSpace(value)
	}
	return p, true
}

// guarded answers a request for /digest.
func (s *site) guarded(c *call) response {
	if c.proof == proofGood {
		return response{status: 200, kind: typeText, body: "welcome, " + digestUser + "\n"}
	}
	algorithm, stale := "SHA-256", ""
	if c.route == routeDigestMD5 {
		algorithm = "MD5"
	}
	if c.proof == proofStale {
		stale = ", stale=true"
	}
	return response{status: 401, kind: typeText, body: "prove that you are " + digestUser + "\n",
		extra: `WWW-Authenticate: Digest realm="` + digestRealm + `", nonce="` + s.nonces.begin() + `", qop="auth", algorithm=` + algorithm + stale + "\r\n"}
}

// digestOf cuts the scheme off the value of Authorization.
func digestOf(value []byte) []byte {
	const scheme = "digest "
	if len(value) > len(scheme) && is(value[:len(scheme)], scheme) {
		return bytes.TrimSpace(value[len(scheme):])
	}
	return nil
}
