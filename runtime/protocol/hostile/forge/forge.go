package forge

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// Forger seals records by itself, with keys that it reads in the key log: the library
// sends no message of TLS that it should not.
type Forger struct {
	mu      sync.Mutex
	secrets map[string][]byte // by label of the key log
	client  []byte            // the client's random
}

// Write takes a line of the key log: label, client random, secret.
func (f *Forger) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.secrets == nil {
		f.secrets = map[string][]byte{}
	}
	if parts := strings.Fields(string(line)); len(parts) == 3 {
		f.client, _ = hex.DecodeString(parts[1]) // the library writes hexadecimal
		f.secrets[parts[0]], _ = hex.DecodeString(parts[2])
	}
	return len(line), nil
}

func (f *Forger) secret(label string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.secrets[label]
}

// Tap keeps the beginning of a TLS server's output, which has its random in clear.
type Tap struct {
	net.Conn
	first []byte
}

// tapped is a record's header, a message's header, a version, a random.
const (
	tapped       = 5 + 4 + 2 + randomLength
	randomLength = 32
)

func (t *Tap) Write(b []byte) (int, error) {
	t.first = append(t.first, b[:min(len(b), tapped-len(t.first))]...)
	return t.Conn.Write(b)
}

// random is the server's, once its hello has gone out.
func (t *Tap) random() []byte { return t.first[len(t.first)-min(len(t.first), randomLength):] }

const forgedMost = 1000 // messages of a flood

// KeyUpdates sends nothing but KeyUpdate, each under the key that the last one brought. It reports
// whether the client took them all.
func (f *Forger) KeyUpdates(to io.Writer, _ *Tap) bool {
	secret := f.secret("SERVER_TRAFFIC_SECRET_0")
	for range forgedMost {
		aead := gcm(expand(secret, "key", 16))
		inner := []byte{24, 0, 0, 1, 0, 22} // key_update(not_requested), of the type handshake
		head := []byte{23, 3, 3, 0, byte(len(inner) + aead.Overhead())}
		record := aead.Seal(head, expand(secret, "iv", aead.NonceSize()), inner, head)
		if _, err := to.Write(record); err != nil {
			return false
		}
		secret = expand(secret, "traffic upd", sha256.Size)
	}
	return true
}

// expand is HKDF-Expand-Label of RFC 8446, 7.1, without a context.
func expand(secret []byte, label string, length int) []byte {
	label = "tls13 " + label
	info := append([]byte{0, byte(length), byte(len(label))}, label...)
	return must(hkdf.Expand(sha256.New, secret, string(append(info, 0)), length))
}

// HelloRequests asks for a new handshake again and again, as KeyUpdates does.
func (f *Forger) HelloRequests(to io.Writer, below *Tap) bool {
	f.mu.Lock()
	seed := append(append([]byte("key expansion"), below.random()...), f.client...)
	f.mu.Unlock()
	block := prf(f.secret("CLIENT_RANDOM"), seed, 2*16+2*4)
	aead, salt := gcm(block[16:32]), block[36:40]
	for sequence := uint64(1); sequence <= forgedMost; sequence++ { // Finished was 0
		explicit := binary.BigEndian.AppendUint64(nil, sequence)
		message := []byte{0, 0, 0, 0}
		data := append(append([]byte(nil), explicit...), 22, 3, 3, 0, byte(len(message)))
		record := append([]byte{22, 3, 3, 0, byte(len(explicit) + len(message) + aead.Overhead())}, explicit...)
		record = aead.Seal(record, append(append([]byte(nil), salt...), explicit...), message, data)
		if _, err := to.Write(record); err != nil {
			return false
		}
	}
	return true
}

// prf is P_SHA256 of RFC 5246, 5.
func prf(secret, seed []byte, length int) []byte {
	sum := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < length; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:length]
}

func gcm(key []byte) cipher.AEAD { return must(cipher.NewGCM(must(aes.NewCipher(key)))) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("forge a record: %v", err)) // it depends on nothing but this file
	}
	return v
}
