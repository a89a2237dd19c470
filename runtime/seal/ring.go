package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
)

// Errors of frames that no holder of a secret sealed so. KeyError is a further one.
var (
	// ErrPlain marks bytes that are not sealed.
	ErrPlain = errors.New("the frame is not sealed")
	// ErrScope marks a stream of another cluster, environment or major version.
	ErrScope = errors.New("the peer is of another cluster, environment or major version")
	// ErrForged marks bytes that were changed, moved or made up.
	ErrForged = errors.New("the seal does not fit: the bytes were changed on their way, made without the secret, or in another cluster with the same secret")
	// ErrReplayed marks a datagram that arrived before, or is older than the window.
	ErrReplayed = errors.New("the datagram arrived before")
)

// KeyError says that two nodes have no secret in common.
type KeyError struct {
	Got  []ID // the peer's
	Want []ID // this node's
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("the peer seals with key %v, this node knows %v", e.Got, e.Want)
}

// Ring holds the secrets of a node. Replace may change them while frames are sealed.
type Ring struct {
	scope  string
	digest [digestLength]byte // of the scope
	now    atomic.Pointer[[]Secret]
}

// NewRing returns a ring of at least one secret. Scope is what else must be equal at both ends, such
// as the cluster's name: keys of two scopes differ.
func NewRing(scope string, secrets []Secret) *Ring {
	sum := sha256.Sum256([]byte(scope))
	r := &Ring{scope: scope, digest: [digestLength]byte(sum[:])}
	r.Replace(secrets)
	return r
}

// Replace gives the ring other secrets, at least one. Streams that stand keep their keys.
func (r *Ring) Replace(secrets []Secret) {
	if len(secrets) == 0 {
		panic("seal: a ring without a secret") // callers have the secrets of Parse
	}
	r.now.Store(&secrets)
}

// secrets returns those of now: the first seals.
func (r *Ring) secrets() []Secret { return *r.now.Load() }

// IDs returns the names of the secrets: the first seals.
func (r *Ring) IDs() []ID {
	var ids []ID
	for _, s := range r.secrets() {
		ids = append(ids, s.id)
	}
	return ids
}

// find returns the secret with a name.
func (r *Ring) find(id ID) (Secret, bool) {
	for _, s := range r.secrets() {
		if s.id == id {
			return s, true
		}
	}
	return Secret{}, false
}

// derive returns key material for one use of a secret. The lengths are constant, so that HKDF cannot
// fail.
func derive(root []byte, use string) []byte {
	b, err := hkdf.Expand(sha256.New, root, use, keyLength)
	if err != nil {
		panic("seal: " + err.Error())
	}
	return b
}

// mix returns the root of one salt's keys.
func mix(root, salt []byte) []byte {
	b, err := hkdf.Extract(sha256.New, root, salt)
	if err != nil {
		panic("seal: " + err.Error())
	}
	return b
}

// keyLength is that of AES-256, and of SHA-256's output.
const keyLength = 32

// aeadOf returns AES-256-GCM with a key.
func aeadOf(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("seal: " + err.Error())
	}
	a, err := cipher.NewGCM(block)
	if err != nil {
		panic("seal: " + err.Error())
	}
	return a
}
